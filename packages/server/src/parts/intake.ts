import { intakeLimits } from '../config/endpoint-limits.ts';
import { isInList, proxyList } from '../edges/address.ts';
import { type Intake, openIntake } from '../edges/intake.ts';
import { connectionLimit, openFileLimit } from '../edges/open-files.ts';
import type { OpeningOptions } from './server-options.ts';

/** The limits that all endpoints share. */
export function sharedIntake({ config, clock, log }: OpeningOptions): Intake {
  const proxies = proxyList(config.trusted_proxies);
  const connections = {
    most: connectionLimit(config.limits.connections, openFileLimit(), log),
    isExempt: (address: string) => isInList(proxies, address),
  };
  return openIntake({ clock, ...intakeLimits(config.limits), connections });
}
