"""What is measured: one module for each subject, with its targets."""
