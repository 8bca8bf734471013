import { readFile } from 'node:fs/promises';
import { commandInterrupted } from '../../shared/errors/commandErrors.ts';
import { decodeText } from '../../shared/json/utf8Text.ts';
import type { Match, People } from '../open/people.ts';
import { type SecretFiles, secretOptions } from '../places/placeOptions.ts';
import {
  defineInstanceCommand,
  flag,
  type Output,
  optional,
  repeatable,
  required,
  type Surroundings,
  usageError,
} from '../terminal/command.ts';
import { counted } from '../terminal/numberTexts.ts';

export const otpEmailEnableCommand = defineInstanceCommand({
  name: 'otp-email enable',
  summary: 'enable the OTP e-mail factor of a person',
  isAudited: true,
  arguments: [required('USER_ID', 'the person')],
  options: {},
  examples: ['otp-email enable 330000000000000201 --data ./north'],
  run: async ({ arguments: [userId], store, now }) => {
    const { enableOtpEmail } = await import('../../shared/accounts/userAccounts.ts');
    const sequence = await enableOtpEmail(store, userId, now);
    return { json: { userId, sequence: String(sequence) }, text: `${userId} now has the OTP e-mail factor` };
  },
});

export const otpEmailRemoveCommand = defineInstanceCommand({
  name: 'otp-email remove',
  summary: 'remove the OTP e-mail factor of people',
  details: 'The people belong to an instance (--data or --firestore) or to ZITADEL (https://HOST).',
  arguments: [
    repeatable(
      'USER',
      'id, user name or e-mail address of a person; for people in ZITADEL, also a login name, and once https://HOST',
    ),
  ],
  options: {
    file: optional('FILE', 'file with further people, one per line; lines that begin with # are comments'),
    'token-file': secretOptions['token-file'],
    'dry-run': flag('list the people and their factors, and remove nothing'),
  },
  examples: [
    'otp-email remove ada@example.com 330000000000000202 --data ./north',
    'otp-email remove --file people.txt https://zitadel.example.com --token-file zitadel.pat --dry-run',
  ],
  elsewhere: (call) => {
    const addresses = call.arguments[0].filter(isAddress);
    const [address] = addresses;
    if (address === undefined) return undefined;
    if (addresses.length > 1) throw usageError(`several addresses, ${addresses.join(' and ')}: specify only one`);
    return () => removeRemotely(address, call);
  },
  run: async (call) => {
    if (call.options['token-file'] !== undefined)
      throw usageError('--token-file applies only to https://HOST, not to a database');
    const users = await givenUsers(call);
    const { openDatabasePeople } = await import('../open/openPeople.ts');
    return removeFactors(openDatabasePeople(call), users, call);
  },
});

interface RemovalCall extends Surroundings {
  readonly arguments: readonly [readonly string[]];
  readonly options: { readonly file: string | undefined; readonly 'dry-run': boolean };
}

function isAddress(text: string): boolean {
  return /^https?:\/\//i.test(text);
}

async function removeRemotely(address: string, call: RemovalCall & { readonly options: SecretFiles }): Promise<Output> {
  const users = await givenUsers(call);
  const { openAddress } = await import('../open/openPlaces.ts');
  const { openRemotePeople } = await import('../open/openPeople.ts');
  const settings = await openAddress(call, call.options, address);
  return removeFactors(await openRemotePeople(settings, call), users, call);
}

/** @throws IdentityError USAGE_INVALID if the call specifies no people */
async function givenUsers({ arguments: [userTexts], options: { file } }: RemovalCall): Promise<readonly string[]> {
  const listed = file === undefined ? [] : listedUsers(decodeText(await readList(file)), file);
  const users = [...new Set([...userTexts.filter((text) => !isAddress(text)), ...listed])];
  if (users.length > 0) return users;
  throw usageError(file === undefined ? 'specify the people: USER, or --file FILE' : `${file} lists no people`);
}

/**
 * The forms of lines that cannot specify a person. If a line matches several patterns, the error describes the first.
 */
const wrongLines = [
  { pattern: /(?!\t)\p{Cc}|\ufffd/u, problem: 'is not text in UTF-8, but compressed or in another encoding' },
  { pattern: /^[[{]/, problem: 'is JSON' },
  { pattern: /^["'`]/, problem: 'is in quotes' },
  { pattern: /[,;\t]/, problem: 'has several columns' },
  { pattern: /^(?:user[ _-]?)?(?:id|name|e-?mail(?: ?address)?)$/i, problem: 'is the heading of a column' },
];

/** @throws IdentityError USAGE_INVALID for the first line that cannot specify a person */
function listedUsers(text: string, file: string): string[] {
  const users: string[] = [];
  for (const [index, line] of text.split(/\r\n|[\r\n]/).entries()) {
    const user = line.trim();
    if (user === '' || user.startsWith('#')) continue;
    const wrong = wrongLines.find(({ pattern }) => pattern.test(user));
    if (wrong !== undefined)
      throw usageError(
        `line ${index + 1} of ${file} ${wrong.problem}: write one id, user name or e-mail address per line, and nothing else`,
      );
    users.push(user);
  }
  return users;
}

/** @throws the error of the operating system, with the file's path */
async function readList(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    // If the path is a directory, the operating system's error contains no path. So add the path.
    throw error instanceof Error ? Object.assign(error, { path: file }) : error;
  }
}

const removalOutcomes = {
  removed: 'removed',
  wouldBeRemoved: 'would be removed',
  notEnabled: 'not enabled',
} as const;

interface Removal extends Match {
  readonly user: string;
  readonly outcome: keyof typeof removalOutcomes;
}

/**
 * Finds all people before it removes the first factor, so that an unknown person prevents all removals.
 * @throws IdentityError USAGE_INVALID for a text that matches no person or several people
 */
async function removeFactors(people: People, users: readonly string[], call: RemovalCall): Promise<Output> {
  const { signal, options } = call;
  const isDryRun = options['dry-run'];
  const persons = onePersonEach(await people.find(users, signal));
  const removals: Removal[] = [];
  try {
    for (const [user, person] of persons) {
      const hasFactor = await people.hasOtpEmail(person.userId, signal);
      if (hasFactor && !isDryRun) await people.removeOtpEmail(person.userId, signal);
      const outcome = hasFactor ? (isDryRun ? 'wouldBeRemoved' : 'removed') : 'notEnabled';
      removals.push({ user, ...person, outcome });
    }
  } catch (error) {
    const done = removals.filter(({ outcome }) => outcome === 'removed').length;
    if (signal.aborted)
      throw commandInterrupted({ interruption: `interrupted after ${counted(done, 'removal')}: repeat the command` });
    throw error;
  }
  return removalOutput(removals, isDryRun);
}

function onePersonEach(matchesByUser: ReadonlyMap<string, readonly Match[]>): ReadonlyMap<string, Match> {
  const persons = new Map<string, Match>();
  const problems: string[] = [];
  const seen = new Set<string>();
  for (const [user, matches] of matchesByUser) {
    const [person, ...others] = matches;
    if (person === undefined) problems.push(`no person has the id, user name, e-mail address or login name ${user}`);
    else if (others.length > 0)
      problems.push(
        `${counted(matches.length, 'person')} match ${user} (${matches.map(matchText).join(', ')}): specify an id, or another text that matches only one person`,
      );
    else if (!seen.has(person.userId)) persons.set(user, person);
    if (person !== undefined) seen.add(person.userId);
  }
  if (problems.length > 0) throw usageError([...problems, 'nothing was removed'].join('\n'));
  return persons;
}

function matchText({ userId, orgId, matchedBy }: Match): string {
  return `${userId} in organisation ${orgId} by ${matchedBy.join(' and ')}`;
}

function removalLine({ user, outcome, ...match }: Removal): string {
  if (match.orgId !== '') return `${user} (${matchText(match)}): ${removalOutcomes[outcome]}`;
  return `${user}: ${removalOutcomes[outcome]}${outcome === 'notEnabled' ? ', or no person has this id' : ''}`;
}

function removalOutput(removals: readonly Removal[], isDryRun: boolean): Output {
  const count = removals.filter(({ outcome }) => outcome !== 'notEnabled').length;
  const total = `the OTP e-mail factor of ${counted(count, 'person')}`;
  return {
    json: { dryRun: isDryRun, removals, removed: isDryRun ? 0 : count },
    text: [...removals.map(removalLine), isDryRun ? `would remove ${total}: nothing was changed` : `removed ${total}`],
  };
}
