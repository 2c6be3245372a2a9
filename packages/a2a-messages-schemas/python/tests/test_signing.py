"""Signing, verifying, Standard Webhooks, and UUID and datetime objects in models. Run: python3 -m unittest"""

import base64
import hashlib
import hmac
import importlib.util
import unittest
from datetime import datetime, timezone
from uuid import uuid4

from pydantic import ValidationError

from a2a_messages_schemas import RequestMessage, canonical_json, sign_message, verify_message, verify_webhook

REQUEST = {
    "message_id": "a7f8d9e2-3c4b-4d6e-8f8a-9b0c1d2e3f40",
    "message_type": "request",
    "sender_id": "client-agent",
    "recipient_id": "echo",
    "timestamp": "2026-03-28T12:00:30.000Z",
    "payload": {"method": "say", "parameters": {"price": 1.0}},
}


class Signing(unittest.TestCase):
    def test_numbers_are_written_as_ecmascript_writes_them(self):
        self.assertEqual(canonical_json([1.0, -0.0, 1e21, 1e-7, 0.1, 100]), "[1,0,1e+21,1e-7,0.1,100]")
        self.assertEqual(canonical_json({"b": 1, "a": "\u20ac"}), '{"a":"\u20ac","b":1}')
        for value in (9007199254740993, 10**400, float("nan")):
            with self.assertRaises(ValueError):
                canonical_json(value)

    @unittest.skipUnless(importlib.util.find_spec("cryptography"), "cryptography is not installed")
    def test_a_signed_message_verifies_until_it_is_changed(self):
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        key = Ed25519PrivateKey.generate()
        signed = sign_message(REQUEST, key)
        self.assertTrue(verify_message(signed, key.public_key()))
        self.assertTrue(verify_message({**signed, "correlation_id": None}, key.public_key()))
        self.assertFalse(verify_message({**signed, "recipient_id": "other"}, key.public_key()))
        self.assertFalse(verify_message(signed, Ed25519PrivateKey.generate().public_key()))

    @unittest.skipUnless(importlib.util.find_spec("cryptography"), "cryptography is not installed")
    def test_a_malformed_message_does_not_verify_and_does_not_raise(self):
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        key = Ed25519PrivateKey.generate()
        signed = sign_message(REQUEST, key)
        auth = signed["auth"]
        for broken in (
            REQUEST,
            {**signed, "auth": None},
            {**signed, "auth": {**auth, "signature": "not base64!"}},
            {**signed, "auth": {**auth, "signature": 7}},
            {**signed, "payload": {"huge": 10**400}},
            {**signed, "payload": {"lone": "\ud800"}},
        ):
            self.assertFalse(verify_message(broken, key.public_key()))

    @unittest.skipUnless(importlib.util.find_spec("cryptography"), "cryptography is not installed")
    def test_a_webhook_verifies_by_its_public_key(self):
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        key = Ed25519PrivateKey.generate()
        public = "whpk_" + base64.b64encode(key.public_key().public_bytes_raw()).decode()
        signature = base64.b64encode(key.sign(b"msg_1.1000.{}")).decode()
        headers = {"webhook-id": "msg_1", "webhook-timestamp": "1000", "webhook-signature": f"v1,AA== v1a,{signature}"}
        self.assertTrue(verify_webhook(headers, b"{}", public, now=1010))
        self.assertFalse(verify_webhook(headers, b"[]", public, now=1010))
        # A signature of the other kind is not taken for this one.
        self.assertFalse(
            verify_webhook({**headers, "webhook-signature": f"v1,{signature}"}, b"{}", public, now=1010)
        )

    def test_a_webhook_verifies_by_its_shared_secret_while_it_is_fresh(self):
        secret = base64.b64encode(b"0" * 32).decode()
        signature = base64.b64encode(hmac.new(b"0" * 32, b"msg_1.1000.{}", hashlib.sha256).digest()).decode()
        headers = {"Webhook-Id": "msg_1", "Webhook-Timestamp": "1000", "Webhook-Signature": f"v1a,AA== v1,{signature}"}
        self.assertTrue(verify_webhook(headers, b"{}", f"whsec_{secret}", now=1010))
        self.assertFalse(verify_webhook(headers, b"{ }", f"whsec_{secret}", now=1010))
        self.assertFalse(verify_webhook(headers, b"{}", f"whsec_{secret}", now=2000))

    def test_models_take_uuid_and_datetime_objects(self):
        message_id = uuid4()
        time = datetime(2026, 3, 28, 12, 0, 30, tzinfo=timezone.utc)
        message = RequestMessage.model_validate({**REQUEST, "message_id": message_id, "timestamp": time})
        self.assertEqual(message.message_id, str(message_id))
        self.assertEqual(message.timestamp, "2026-03-28T12:00:30.000Z")
        with self.assertRaisesRegex(ValidationError, "needs a time zone"):
            RequestMessage.model_validate({**REQUEST, "timestamp": datetime(2026, 3, 28)})


if __name__ == "__main__":
    unittest.main()
