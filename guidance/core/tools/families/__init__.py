"""The families of rules applied to reads, edits and the arguments of tools."""
