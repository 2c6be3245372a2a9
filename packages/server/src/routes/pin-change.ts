import type { PinChange } from '@dragoman/core';
import type { Json, JsonObject } from '@dragoman/protocols';

/** A change of a pinned definition, for operators. */
export function changeJson({ pinnedAt, before, now, isRefused }: PinChange): JsonObject {
  return {
    pinned_at: pinnedAt === null ? null : new Date(pinnedAt).toISOString(),
    before: before === null ? null : (JSON.parse(before) as Json),
    now: JSON.parse(now) as Json,
    refused: isRefused,
  };
}
