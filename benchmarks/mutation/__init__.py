"""Small changes of code, and which tests run the changed line: what `benchmarks.mutants` is made of."""
