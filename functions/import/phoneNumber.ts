import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { putAt, textAt } from '../../shared/contract/jsonRecord.ts';
import { type OrganisationRecord, sealed } from '../../shared/contract/record.ts';
import type { RecordFault } from '../../shared/contract/section.ts';

const PATH = 'user.phone.phone';
const INVALID: RecordFault = { id: 'PHONE-so0wa', key: 'Errors.User.Phone.Invalid' };

/**
 * A person with the phone number in E.164, as ZITADEL stores it (contract 3.4), or the fault of a number that cannot be
 * read. Whether it is in use anywhere does not matter. Not part of a record's canonical form, which a file's manifest
 * vouches for: how numbers are read may change with the library.
 */
export function withPhoneNumber(record: OrganisationRecord): { record: OrganisationRecord; fault?: RecordFault } {
  const { section, json, orgId } = record;
  const given = section.name === 'humanUsers' ? textAt(json, PATH, orgId) : '';
  if (given === '') return { record };
  const read = parsePhoneNumberFromString(given, { extract: false });
  if (read === undefined) return { record, fault: INVALID };
  if (read.number === given) return { record };
  putAt(json, PATH, read.number);
  return { record: { ...record, ...sealed(json) } };
}
