// Adds OTP e-mail factors, which ZITADEL's exports leave out.

import { tokenForbidden } from '../../../shared/errors/placeErrors.ts';
import { type RecordWarning, warn } from '../../../shared/errors/warnings.ts';
import { type JsonObject, textAt } from '../../../shared/json/jsonObject.ts';
import { peopleWithFactor } from '../factorEvents.ts';
import type { ZitadelConnection } from '../zitadelConnection.ts';
import { recordsIn } from './exportOrganisation.ts';

/** @returns a warning if the token may not read events; undefined if all factors are known */
export async function addOtpEmail(
  connection: ZitadelConnection,
  organisation: JsonObject,
): Promise<RecordWarning | undefined> {
  const people = recordsIn(organisation.humanUsers);
  if (people.length === 0) return undefined;
  const orgId = textAt(organisation, 'orgId', '');
  try {
    const holders = await peopleWithFactor(connection, orgId, 'otpEmail');
    for (const person of people) person.otpEmail = holders.has(textAt(person, 'userId', ''));
    return undefined;
  } catch (error) {
    if (!tokenForbidden.is(error)) throw error;
    return warn('factors_unknown', { organisation: orgId, problem: error.message });
  }
}
