import { isObject, type Json, type Outcome } from '@dragoman/protocols';

/** Whether a frame is about the connection, such as the greeting `connection.ack`. It answers no request. */
export function isConnectionEvent(frame: Outcome<Json>): boolean {
  return frame.ok && isObject(frame.value) && frame.value['type'] === 'event';
}
