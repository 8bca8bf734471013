import { DEFAULT_CREDENTIALS } from '../../shared/objectStorage/objectStorage.ts';
import { type Call, InterruptedError, type RunAlone, UsageError } from '../command.ts';
import type { Check } from '../doctor/check.ts';
import { checkConfiguration } from '../doctor/configurationChecks.ts';
import { checkDatabase } from '../doctor/databaseChecks.ts';
import { checkFile, checkObject } from '../doctor/fileChecks.ts';
import { checkInstance } from '../doctor/instanceChecks.ts';
import { instanceLocation } from '../instanceLocation.ts';
import { exportOptions } from '../places/callOptions.ts';
import { readKeyFile, readTokenFile } from '../places/openPlaces.ts';
import { parsePlace } from '../places/parsePlace.ts';
import { printable } from '../printable.ts';

/** Runs `identity doctor`: checks a place, or what the environment configures. */
export const doctor: RunAlone = async (call) => {
  const [place] = call.positionals;
  try {
    const checks = place === undefined ? await checkConfiguration(call) : await checkPlace(call, place);
    const width = Math.max(...checks.map(({ status }) => status.length));
    const lines = checks.map(({ subject, status, message }) => `${status.padEnd(width)} ${subject}: ${message}`);
    return {
      json: { event: 'result', checks },
      text: lines.map(printable).join('\n'),
      ending: () => (checks.some(({ status }) => status === 'failed') ? 'failed' : 'done'),
    };
  } catch (error) {
    throw call.signal.aborted ? new InterruptedError('interrupted: nothing was changed; repeat the command') : error;
  }
};

async function checkPlace(call: Call, text: string): Promise<Check[]> {
  const place = parsePlace(text);
  const { 'token-file': tokenFile, 'credentials-file': keyFile } = call.options;
  const masterKey = call.environment.IDENTITY_MASTER_KEY || undefined;
  switch (place.kind) {
    case 'stream':
      throw new UsageError('- cannot be checked: name another place');
    case 'file':
      return checkFile(place.path, exportOptions(call), call.signal);
    case 'object': {
      const account = keyFile === undefined ? DEFAULT_CREDENTIALS : await readKeyFile(keyFile, '--credentials-file');
      return checkObject({ bucket: place.bucket, path: place.path, account }, call.signal);
    }
    case 'instance': {
      const option = '--token-file';
      const token = tokenFile === undefined ? undefined : { text: await readTokenFile(tokenFile, option), option };
      return checkInstance({ origin: place.origin, token }, call.signal);
    }
    case 'sqlite':
      return checkDatabase(instanceLocation(place.directory, undefined, masterKey).store);
    case 'firestore':
      return checkDatabase(instanceLocation(undefined, place.database, masterKey).store);
  }
}
