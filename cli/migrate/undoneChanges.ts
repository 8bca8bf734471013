import { BoundedList } from '../../shared/collections/boundedList.ts';
import { stateWord } from '../../shared/errors/nouns.ts';
import { parseObject, textAt } from '../../shared/json/jsonObject.ts';
import { humanUserSection, personCredentials } from '../../shared/organisation/sections/users.ts';
import type { RecordContent } from '../records/comparedRecord.ts';
import type { RunDatabase } from '../records/runDatabase.ts';
import { MAX_LISTED, type UndonePerson } from './migrationTypes.ts';

const { password, totp } = personCredentials;

/**
 * Lists the people whose factors, passwords or states the import would overwrite in the target. For example, the import
 * would restore a factor that a user has removed.
 */
export async function listUndoneChanges(
  database: Pick<RunDatabase, 'pairs'>,
  signal: AbortSignal,
): Promise<BoundedList<UndonePerson>> {
  const people = new BoundedList<UndonePerson>(MAX_LISTED);
  for await (const { orgId, id, outcome, first, second } of database.pairs(signal, [humanUserSection.name])) {
    if (outcome !== 'different' || second === undefined) continue;
    const person = parseObject(second.body);
    const states = [first, second].map(({ state }) => state?.value ?? '');
    const changes = [
      ...secretChange('password', password.path, first, second),
      ...secretChange('TOTP seed', totp.path, first, second),
      ...factorChange(first.otpEmail, second.otpEmail),
      ...(first.state?.source === 'unknown' ? [] : stateChangeTexts(states)),
    ];
    if (changes.length > 0) people.add({ orgId, id, name: textAt(person, 'user.userName', id), changes });
  }
  return people;
}

function secretChange(name: string, path: string, first: RecordContent, second: RecordContent): string[] {
  const [source, target] = [first.secrets[path], second.secrets[path]];
  if (source === target) return [];
  if (source === undefined) return first.lacks?.includes(path) === true ? [`loses the ${name}`] : [];
  return [target === undefined ? `gets back the ${name}` : `gets the ${name} of the source`];
}

function factorChange(source: boolean | undefined, target: boolean | undefined): string[] {
  if (source === undefined || source === (target === true)) return [];
  return [source ? 'gets back the OTP e-mail factor' : 'loses the OTP e-mail factor'];
}

function stateChangeTexts(states: readonly string[]): string[] {
  const [source = '', target = ''] = states.map(stateWord);
  return source === target ? [] : [`becomes ${source} (now ${target})`];
}
