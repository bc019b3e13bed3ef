"""Questions that wait for people: what each offers, what a reply to it must be, and how its end is told."""
