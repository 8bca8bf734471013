import type { ZitadelConnection } from './zitadelConnection.ts';
import { readEvents } from './zitadelEvents.ts';

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
 * Returns the ids of an organisation's people who have a factor. Reads the events of all its users, because ZITADEL's
 * list of authentication methods needs a call for each person.
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
