import type { Clock } from '@dragoman/core';
import { ConnectionShares, type ConnectionSharesOptions } from './connection-shares.ts';
import { type MessageRateOptions, MessageRates } from './message-rates.ts';
import { UnprovenBudget, type UnprovenLimits } from './unproven-budget.ts';

/** The limits that all edges of a server share, for every transport. */
export interface Intake {
  readonly unproven: UnprovenBudget;
  readonly rates: MessageRates;
  readonly connections: ConnectionShares;
}

export interface IntakeOptions {
  readonly clock: Clock;
  readonly unproven?: UnprovenLimits;
  readonly rates?: Omit<MessageRateOptions, 'clock'>;
  readonly connections?: ConnectionSharesOptions;
}

export function openIntake({ clock, unproven, rates, connections = { most: CONNECTIONS } }: IntakeOptions): Intake {
  return {
    unproven: new UnprovenBudget(unproven),
    rates: new MessageRates({ clock, ...rates }),
    connections: new ConnectionShares(connections),
  };
}

export const CONNECTIONS = 15_000;
