/** More than any benchmark sends: limits are not what is measured. */
export const MANY = 1_000_000_000;

export const NO_LIMITS = {
  requests_per_minute: MANY,
  requests_per_hour: MANY,
  requests_per_day: MANY,
  api_calls_per_minute: MANY,
  api_calls_per_hour: MANY,
  messages_per_minute: MANY,
  message_bytes_per_minute: 1_000 * MANY,
};

/** A log that costs nothing. */
export const SILENT = { debug() {}, info() {}, warn() {}, error() {} };
