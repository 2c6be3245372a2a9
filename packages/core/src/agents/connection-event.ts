import { isObject, type Json, type Outcome } from '@dragoman/protocols';

/** What an agent says about the connection, such as its greeting `connection.ack`: it answers no request. */
export function isConnectionEvent(frame: Outcome<Json>): boolean {
  return frame.ok && isObject(frame.value) && frame.value['type'] === 'event';
}
