// RUN: not layout-opt %s -t c 2>&1 | filecheck %s

// A line of C that would come out of a name is refused with the name.
func.func @"f(void) {} int g"(%x : memref<4xf32>) {
  return
}
// CHECK: c: expected a function name of ASCII letters, digits and '_', not a digit first, got 'f(void) {} int g'
