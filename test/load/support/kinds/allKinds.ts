import type { Kind } from '../kind.ts';
import type { System } from '../system.ts';
import { badRequests } from './badRequests.ts';
import { removals } from './removals.ts';
import { slowClients } from './slowClients.ts';
import { transfers } from './transfers.ts';

/** All kinds of requests of the mixed traffic. */
export function allKinds(system: System): readonly Kind[] {
  return [removals, transfers, slowClients, badRequests].flatMap((kinds) => kinds(system));
}
