import { type Counts, increase } from '../../shared/collections/counts.ts';
import type { RecordVisitor } from '../../shared/exportFile/inspection.ts';
import type { SecretSelection } from '../../shared/exportFile/secretSelection.ts';
import { isJsonObject, type JsonObject } from '../../shared/json/jsonObject.ts';
import { parseJson } from '../../shared/json/jsonScanner.ts';
import type { OrganisationRecord } from '../../shared/organisation/record.ts';
import type { Credential, Section } from '../../shared/organisation/section.ts';
import { snakeCase } from '../../shared/wire/requestMessage.ts';
import { counted } from '../texts.ts';

/** Additional fields of people, which belong to the OTP factors. */
const OTP_EMAIL = 'otpEmail';

/** Returns a record's JSON without the secrets that are not selected; undefined for a key that is not. */
export function keepSecrets(section: Section | undefined, text: string, selection: SecretSelection) {
  if (section === undefined) return text;
  if (section.keys === true) return selection.withKeys ? text : undefined;
  const paths = otherCredentials(section, selection).flatMap(({ path, clear = path }) => [path, clear]);
  if (losesOtpEmail(section, selection)) paths.push(OTP_EMAIL);
  const json = paths.length === 0 ? undefined : parseJson(text, []);
  if (!isJsonObject(json)) return text;
  for (const path of paths) removeAt(json, path.split('.'));
  return JSON.stringify(json);
}

function otherCredentials({ credentials = [] }: Section, selection: SecretSelection): readonly Credential[] {
  return credentials.filter(({ flag }) => !selection[flag]);
}

function losesOtpEmail({ additional }: Section, { withOtp }: SecretSelection): boolean {
  return additional?.otpEmail === true && !withOtp;
}

/** Removes a value, whose names may have either spelling. */
function removeAt(json: JsonObject, [name = '', ...rest]: readonly string[]): void {
  for (const spelling of [name, snakeCase(name)]) {
    const value = json[spelling];
    if (rest.length === 0) json[spelling] = undefined;
    else if (isJsonObject(value)) removeAt(value, rest);
  }
}

/** Counts the secrets of a source that a call does not select: people with passwords or OTP factors, and the others. */
export class LeftOutSecrets implements RecordVisitor {
  private readonly selection: SecretSelection;
  private readonly keeps: (orgId: string) => boolean;
  counts: Counts = {};

  /** @param keeps whether an organisation moves */
  constructor(selection: SecretSelection, keeps: (orgId: string) => boolean = () => true) {
    this.selection = selection;
    this.keeps = keeps;
  }

  add({ section, orgId, credentials, givenPassword, otpEmail }: OrganisationRecord): void {
    if (!this.keeps(orgId)) return;
    const isGiven = ({ field, clear }: Credential) =>
      credentials[field] !== undefined || (clear !== undefined && givenPassword !== undefined);
    const names = otherCredentials(section, this.selection).filter(isGiven).map(nameOf);
    if (otpEmail && losesOtpEmail(section, this.selection)) names.push('otp');
    if (section.keys === true && !this.selection.withKeys) names.push('keys');
    for (const name of new Set(names)) increase(this.counts, name);
  }

  reset(): void {
    this.counts = {};
  }
}

function nameOf({ field, flag }: Credential): string {
  if (field === 'clientSecret') return 'clientSecrets';
  return flag === 'withOtp' ? 'otp' : 'passwords';
}

const phrases: Readonly<Record<string, (count: number) => string>> = {
  passwords: (count) => `the passwords of ${counted(count, 'person')}`,
  otp: (count) => `the OTP factors of ${counted(count, 'person')}`,
  clientSecrets: (count) => counted(count, 'client secret'),
  keys: (count) => counted(count, 'key'),
};

/** Says which secrets of a source stay; nothing if it has no others than the selected ones. */
export function leftOutLines(counts: Counts): string[] {
  const texts = Object.entries(phrases).flatMap(([name, phrase]) => {
    const count = counts[name] ?? 0;
    return count === 0 ? [] : [phrase(count)];
  });
  return texts.length === 0 ? [] : [`left out, as --with does not name them: ${texts.join(', ')}`];
}
