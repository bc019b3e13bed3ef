"""Training and measuring the push-back scorer on labelled turns of the corpus. See the README beside this file."""
