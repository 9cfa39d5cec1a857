"""The generated modules."""

import inspect
import typing
import unittest

from switchboard_client import events, models, operations


class TypesTest(unittest.TestCase):
    def test_can_be_resolved(self) -> None:
        count = 0
        for module in (events, models, operations):
            for _, member in inspect.getmembers(module, inspect.isclass):
                if member.__module__ != module.__name__:
                    continue
                typing.get_type_hints(member)
                for _, function in inspect.getmembers(member, inspect.isfunction):
                    typing.get_type_hints(function)
                    count += 1
        self.assertGreater(count, 80)

    def test_are_plain_dictionaries(self) -> None:
        poll: models.MessagePoll = {"options": ["yes", "no"], "maxSelections": 1}
        self.assertIsInstance(poll, dict)
