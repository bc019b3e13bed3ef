"""What context regions hold while a run goes on: writing, showing and summing up, as pure functions over entries.

``writing`` changes a region or refuses, ``shelf`` lets tools do so, ``view`` makes of regions and conversation what a
model sees, ``summing`` and ``cascade`` make room, ``seeding`` fills a region when a stage begins, ``report`` tells
people how full everything is. Who calls them and records ``RegionWritten`` is the stage machine.
"""
