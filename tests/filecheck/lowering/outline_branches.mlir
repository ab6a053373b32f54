// RUN: layout-opt %s -p layout-outline-branches | filecheck %s
// RUN: layout-opt %s -p layout-outline-branches,layout-outline-branches | filecheck %s

// what a branch needs is computed in its function; what is made once is handed over
// CHECK-LABEL: func.func private @choose_0(%x: memref<?xf32>, %n: index, %made: memref<8xf32>) attributes {no_inline} {
// CHECK-NEXT:    %zero = arith.constant 0 : index
// CHECK-NEXT:    %one = arith.constant 1 : index
// CHECK-NEXT:    %two = arith.constant 2 : index
// CHECK-NEXT:    %twice = arith.muli
// CHECK-NEXT:    scf.for %i =
// CHECK-NEXT:      %v = memref.load %x[%twice] : memref<?xf32>
// CHECK-NEXT:      memref.store %v, %made[%i] : memref<8xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return

// the innermost branch is the one
// CHECK-LABEL: func.func private @choose_2(%n: index, %made: memref<8xf32>) attributes {no_inline} {
// CHECK:         scf.if
// CHECK:           scf.for
// CHECK:         func.return

// CHECK-LABEL: func.func @choose(%x: memref<?xf32>, %n: index, %unused: index) {
// CHECK-NOT:     %twice
// CHECK:         %made = memref.alloc() : memref<8xf32>
// CHECK:         scf.if %small {
// CHECK-NEXT:      func.call @choose_0(%x, %n, %made) : (memref<?xf32>, index, memref<8xf32>) -> ()
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %even = arith.cmpi
// CHECK-NEXT:      scf.if %even {
// CHECK-NEXT:        func.call @choose_2(%n, %made) : (index, memref<8xf32>) -> ()
// CHECK-NEXT:      }
// CHECK-NEXT:    }
func.func @choose(%x: memref<?xf32>, %n: index, %unused: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %twice = arith.muli %n, %two : index
  %made = memref.alloc() : memref<8xf32>
  %small = arith.cmpi ult, %n, %two : index
  scf.if %small {
    scf.for %i = %zero to %n step %one {
      %v = memref.load %x[%twice] : memref<?xf32>
      memref.store %v, %made[%i] : memref<8xf32>
    }
  } else {
    %even = arith.cmpi eq, %n, %two : index
    scf.if %even {
      %value = arith.constant 2.0 : f32
      scf.for %i = %zero to %one step %one {
        memref.store %value, %made[%i] : memref<8xf32>
      }
      scf.if %small {
        scf.for %i = %zero to %n step %one {
          memref.store %value, %made[%i] : memref<8xf32>
        }
      }
    }
  }
  memref.dealloc %made : memref<8xf32>
  func.return
}

// a name that is taken
// CHECK-LABEL: func.func private @choose_1(
func.func private @choose_1(index)

// a function without sizes, a choice with results, and one inside of a loop stay
// CHECK-LABEL: func.func @without_sizes(
// CHECK:         scf.if
// CHECK-NEXT:      scf.for
func.func @without_sizes(%x: memref<4xf32>, %which: i1) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.if %which {
    scf.for %i = %zero to %one step %one {
      %v = memref.load %x[%zero] : memref<4xf32>
      memref.store %v, %x[%i] : memref<4xf32>
    }
  }
  func.return
}

// CHECK-LABEL: func.func @with_results(
// CHECK:         scf.if
// CHECK-NEXT:      scf.for
// CHECK:         scf.for
// CHECK-NEXT:      scf.if
// CHECK-NEXT:        scf.for
func.func @with_results(%x: memref<4xf32>, %n: index, %which: i1) -> index {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %v = memref.load %x[%zero] : memref<4xf32>
  %which_size = scf.if %which -> (index) {
    scf.for %i = %zero to %n step %one {
      memref.store %v, %x[%i] : memref<4xf32>
    }
    scf.yield %one : index
  } else {
    scf.yield %n : index
  }
  scf.for %j = %zero to %n step %one {
    scf.if %which {
      scf.for %i = %zero to %n step %one {
        memref.store %v, %x[%i] : memref<4xf32>
      }
    }
  }
  func.return %which_size : index
}

// branches that do the same have one function, each with the values that it works on
// CHECK-LABEL: func.func private @same_0(
// CHECK-NOT:   func.func private
// CHECK-LABEL: func.func @same(
// CHECK:         scf.if
// CHECK-NEXT:      func.call @same_0(%n, %x) :
// CHECK-NEXT:    } else {
// CHECK-NEXT:      func.call @same_0(%n, %y) :
func.func @same(%n: index, %which: i1) {
  %x = memref.alloc() : memref<8xf32>
  %y = memref.alloc() : memref<8xf32>
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %value = arith.constant 2.0 : f32
  scf.if %which {
    scf.for %i = %zero to %n step %one {
      memref.store %value, %x[%i] : memref<8xf32>
    }
  } else {
    scf.for %j = %zero to %n step %one {
      memref.store %value, %y[%j] : memref<8xf32>
    }
  }
  func.return
}

// branches that do the same are no choice, and nobody asks which one it is
// CHECK-LABEL: func.func private @no_choice_0(
// CHECK-LABEL: func.func @no_choice(%x: memref<?xf32>, %n: index) {
// CHECK-NEXT:    func.call @no_choice_0(%x, %n) : (memref<?xf32>, index) -> ()
// CHECK-NEXT:    func.return
func.func @no_choice(%x: memref<?xf32>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %rest = arith.remui %n, %two : index
  %even = arith.cmpi eq, %rest, %zero : index
  scf.if %even {
    scf.for %i = %zero to %n step %one {
      %v = memref.load %x[%zero] : memref<?xf32>
      memref.store %v, %x[%i] : memref<?xf32>
    }
  } else {
    %small = arith.cmpi ult, %n, %two : index
    scf.if %small {
      scf.for %i = %zero to %n step %one {
        %v = memref.load %x[%zero] : memref<?xf32>
        memref.store %v, %x[%i] : memref<?xf32>
      }
    } else {
      scf.for %i = %zero to %n step %one {
        %v = memref.load %x[%zero] : memref<?xf32>
        memref.store %v, %x[%i] : memref<?xf32>
      }
    }
  }
  func.return
}
