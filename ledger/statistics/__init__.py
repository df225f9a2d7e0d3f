"""Figures across runs: counted from the ledger by a task, read by pages and the API.

`registry` says what an entry of each type adds, `counting` reads the next entries and
adds them to the rows of their hour and day, `recount` compares these with the ledger,
`selectors` reads them.
"""
