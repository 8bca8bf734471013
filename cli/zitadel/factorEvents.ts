// The second factors of people, according to the events of ZITADEL.

import type { ZitadelConnection } from './zitadelConnection.ts';
import { readEvents } from './zitadelEvents.ts';

/** The types of the events that add or remove a factor. */
interface FactorEvents {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

const factors = {
  totp: {
    added: ['user.human.mfa.otp.verified', 'user.mfa.otp.verified'],
    removed: ['user.human.mfa.otp.removed', 'user.mfa.otp.removed'],
  },
  otpEmail: {
    added: ['user.human.mfa.otp.email.added'],
    removed: ['user.human.mfa.otp.email.removed'],
  },
} as const satisfies Readonly<Record<string, FactorEvents>>;

/**
 * Returns the people of an organisation who have a factor. Reads the events of the organisation, because the list of
 * authentication methods needs a call per person.
 */
export async function peopleWithFactor(
  connection: ZitadelConnection,
  owner: string,
  factor: keyof typeof factors,
): Promise<ReadonlySet<string>> {
  const { added, removed }: FactorEvents = factors[factor];
  const people = new Set<string>();
  const eventTypes = [...added, ...removed, 'user.removed'];
  for await (const page of readEvents(connection, { aggregateTypes: ['user'], eventTypes, owner }))
    for (const { type, aggregateId } of page)
      if (added.includes(type)) people.add(aggregateId);
      else people.delete(aggregateId);
  return people;
}
