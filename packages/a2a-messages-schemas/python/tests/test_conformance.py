"""The cases of conformance/a2a-messages, which the server keeps too. From the folder above: python3 -m unittest discover"""

import json
import unittest
from datetime import datetime, timedelta, timezone
from pathlib import Path

from pydantic import ValidationError

from a2a_messages_schemas import (
    MANIFEST,
    SCHEMA_VERSION,
    RequestMessage,
    SchemaValidator,
    check_freshness,
    negotiate,
    parse_message,
)

CASES = Path(__file__).resolve().parents[4] / "conformance" / "a2a-messages"


def cases(kind):
    """Those for everybody: what only a lenient reader takes is no matter of the schemas."""
    for path in sorted((CASES / kind).glob("*.json")):
        case = json.loads(path.read_text(encoding="utf-8"))
        if not case.get("options"):
            yield path.stem, case


class Conformance(unittest.TestCase):
    validator = SchemaValidator()

    def test_what_is_valid_is_taken_and_comes_out_as_it_went_in(self):
        seen = 0
        for name, case in cases("accept"):
            seen += 1
            with self.subTest(name):
                self.assertEqual(self.validator.validate(case["input"]), (True, []))
                self.assertEqual(parse_message(case["input"]).to_json(), case["input"])
        self.assertGreater(seen, 50)

    def test_what_is_not_valid_is_refused_by_both(self):
        seen = 0
        for name, case in cases("reject"):
            seen += 1
            with self.subTest(name):
                is_valid, problems = self.validator.validate(case["input"])
                self.assertFalse(is_valid)
                self.assertTrue(problems)
                with self.assertRaises(ValidationError):
                    parse_message(case["input"])
        self.assertGreater(seen, 100)

    def test_cards_agree_on_the_highest_version_both_name(self):
        seen = 0
        for name, case in cases("negotiate"):
            seen += 1
            with self.subTest(name):
                found = negotiate(case["input"]["ours"], case["input"]["theirs"])
                self.assertEqual(found and found._asdict(), case["expect"])
        self.assertGreater(seen, 5)


class Time(unittest.TestCase):
    message = json.loads((CASES / "accept" / "spec-example-authenticated-request.json").read_text())["input"]
    sent = datetime(2025, 12, 9, 15, 30, tzinfo=timezone.utc)

    def test_a_message_is_good_for_five_minutes_and_one_ahead(self):
        for seconds, is_fresh in [(-61, False), (-60, True), (0, True), (300, True), (301, False)]:
            with self.subTest(seconds):
                self.assertEqual(check_freshness(self.message, self.sent + timedelta(seconds=seconds)) == [], is_fresh)

    def test_it_is_signed_when_it_is_sent(self):
        auth = {**self.message["auth"], "timestamp": "2025-12-09T16:30:05.001+01:00"}
        self.assertEqual(len(check_freshness({**self.message, "auth": auth}, self.sent)), 1)


class Models(unittest.TestCase):
    def test_a_model_can_be_made_by_hand(self):
        request = RequestMessage(
            message_id="a7f8d9e2-3c4b-4d6e-8f8a-9b0c1d2e3f40",
            message_type="request",
            sender_id="client-agent-001",
            recipient_id="crypto-agent-001",
            timestamp="2025-12-09T15:30:00.000Z",
            payload={"method": "get_price"},
        )
        self.assertEqual(parse_message(request.to_json()), request)

    def test_the_version_of_the_schemas_is_known(self):
        self.assertIn(SCHEMA_VERSION, MANIFEST["schema_versions"])


if __name__ == "__main__":
    unittest.main()
