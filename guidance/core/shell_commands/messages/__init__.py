"""What findings say: the sentence that names what is at stake."""
