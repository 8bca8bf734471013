import { type Call, defineCommand, interruptible, NOTHING_CHANGED, optional, UsageError } from '../command.ts';
import type { Check } from '../doctor/localChecks.ts';
import { jsonOption } from '../help.ts';
import { instanceLocation } from '../instanceLocation.ts';
import { secretOptions } from '../places/callOptions.ts';

const options = { ...secretOptions, ...jsonOption };

export const doctor = defineCommand({
  name: 'doctor',
  summary:
    'check a place, or what the environment configures: address, clock, database, token, bucket, files; each with what to do',
  arguments: [optional('PLACE', 'the place; by default the configured database')],
  options,
  examples: ['doctor https://id.example.com --token-file owner.pat', 'doctor sqlite:./north', 'doctor'],
  run: (call) =>
    interruptible(call.signal, NOTHING_CHANGED, async () => {
      const [place] = call.arguments;
      const checks = place === undefined ? await checkConfigured(call) : await checkPlace(call, place);
      const width = Math.max(...checks.map(({ status }) => status.length));
      const lines = checks.map(({ subject, status, message }) => `${status.padEnd(width)} ${subject}: ${message}`);
      return {
        json: { event: 'result', checks },
        text: lines,
        exitStatus: () => (checks.some(({ status }) => status === 'failed') ? 'failed' : 'done'),
      };
    }),
});

type DoctorCall = Pick<Call<readonly [], typeof options>, 'options' | 'environment' | 'signal' | 'stderr'>;

async function checkConfigured(call: DoctorCall): Promise<Check[]> {
  const { checkConfiguration } = await import('../doctor/localChecks.ts');
  return checkConfiguration(call);
}

/** Loads only the modules of the place's kind. */
async function checkPlace(
  { options: secrets, environment, signal, stderr }: DoctorCall,
  text: string,
): Promise<Check[]> {
  const { parsePlace } = await import('../places/parsePlace.ts');
  const { readKeyFile, readTokenFile } = await import('../places/openPlaces.ts');
  const { trustAuthorities } = await import('../tls.ts');
  const { 'token-file': tokenFile, 'credentials-file': keyFile } = secrets;
  await trustAuthorities(secrets['ca-file']);
  const place = parsePlace(text);
  switch (place.kind) {
    case 'stream':
      throw new UsageError('- cannot be checked: name another place');
    case 'file':
      return (await import('../doctor/localChecks.ts')).checkFile(place.path, signal);
    case 'object': {
      const { DEFAULT_CREDENTIALS } = await import('../../shared/objectStorage/objectStorage.ts');
      const { checkObject } = await import('../doctor/localChecks.ts');
      const account =
        keyFile === undefined ? DEFAULT_CREDENTIALS : await readKeyFile(keyFile, '--credentials-file', stderr);
      return checkObject({ bucket: place.bucket, path: place.path, account }, signal);
    }
    case 'instance': {
      const { checkInstance } = await import('../doctor/instanceChecks.ts');
      const option = '--token-file';
      const token =
        tokenFile === undefined ? undefined : { text: await readTokenFile(tokenFile, option, stderr), option };
      return checkInstance({ origin: place.origin, token }, signal);
    }
    case 'sqlite':
    case 'firestore': {
      const { checkDatabase } = await import('../doctor/localChecks.ts');
      const [directory, database] = place.kind === 'sqlite' ? [place.directory] : [undefined, place.database];
      return checkDatabase(instanceLocation(directory, database, environment).location);
    }
  }
}
