"""The mutants: one guard broken in each. (name, file, text as it is, text as broken, test)

The text must stand in the file exactly once: `run.py --check` tells when the code has moved on. A
mutant belongs to the folder of tests/ that has to notice it, with the names of the tests where all
take long; or, in a header, to one file there that needs headers only: then it is killed within
seconds (`run.py --quick`).
"""
import host_mutants
import rule_mutants
import store_mutants

MUTANTS = rule_mutants.MUTANTS + store_mutants.MUTANTS + host_mutants.MUTANTS
