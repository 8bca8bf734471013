// OTP e-mail factors, which a ZITADEL's export omits.

import { placeTokenForbidden } from '../../../shared/errors/placeErrors.ts';
import { type JsonObject, textAt } from '../../../shared/json/jsonObject.ts';
import { readEvents } from '../events.ts';
import type { ZitadelConnection } from '../zitadelConnection.ts';
import { recordsIn } from './exportOrganisation.ts';

const ADDED = 'user.human.mfa.otp.email.added';
/** The events that add or remove an OTP e-mail factor, or a person with all factors. */
const eventTypes = [ADDED, 'user.human.mfa.otp.email.removed', 'user.removed'];

/**
 * Adds the OTP e-mail factors of an organisation's people. The events of an organisation have all of them, while the list
 * of authentication methods takes a call per person.
 * @returns a sentence if the token may not read events; undefined if all factors are known
 */
export async function addOtpEmail(
  connection: ZitadelConnection,
  organisation: JsonObject,
): Promise<string | undefined> {
  const people = recordsIn(organisation.humanUsers);
  if (people.length === 0) return undefined;
  const orgId = textAt(organisation, 'orgId', '');
  try {
    const holders = await findHolders(connection, orgId);
    for (const person of people) person.otpEmail = holders.has(textAt(person, 'userId', ''));
    return undefined;
  } catch (error) {
    if (!placeTokenForbidden.is(error)) throw error;
    return `OTP e-mail factors of organisation ${orgId} are unknown, and do not move: ${error.message}`;
  }
}

async function findHolders(connection: ZitadelConnection, owner: string): Promise<ReadonlySet<string>> {
  const holders = new Set<string>();
  for await (const page of readEvents(connection, { aggregateTypes: ['user'], eventTypes, owner }))
    for (const { type, aggregateId } of page)
      if (type === ADDED) holders.add(aggregateId);
      else holders.delete(aggregateId);
  return holders;
}
