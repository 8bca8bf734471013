import { z } from 'zod';
import { callInstance } from '../places/httpCall.ts';
import { responseError } from '../places/instanceErrors.ts';
import { readText } from '../places/readText.ts';
import { recognise } from '../places/recognise.ts';
import { type Check, check, type Finding, failed, ok, warning } from './check.ts';

/** An instance to check, and the token to check with it, if there is one. */
interface CheckedInstance {
  readonly origin: string;
  readonly token: { readonly text: string; readonly option: string } | undefined;
}

const MAX_BYTES = 100_000;
/** The Date header has whole seconds, and the response takes its time. */
const TOLERATED_MS = 5_000;
const readiness = z.object({ databaseFormat: z.enum(['current', 'outdated']) });

/** Checks an instance by its interface. It changes nothing there. */
export async function checkInstance({ origin, token }: CheckedInstance, signal: AbortSignal): Promise<Check[]> {
  let serverTime: Date | undefined;
  const address = await check('address', async () => {
    const found = await recognise(origin, signal);
    if (found.kind !== 'ours') return failed(`${origin} is not an instance of this service: ${found.reason}`);
    serverTime = found.serverTime;
    return ok(`${origin} is an instance, version ${found.version}`);
  });
  // A token must not reach another service.
  if (address.status === 'failed') return [address];
  return [
    address,
    await check('clock', () => compareClocks(serverTime)),
    await check('database', () => askReadiness(origin, signal)),
    ...(token === undefined
      ? [await check('token', () => warning('not checked: specify --token-file'))]
      : [await checkToken('export', { origin, token }, signal), await checkToken('import', { origin, token }, signal)]),
  ];
}

function compareClocks(serverTime: Date | undefined): Finding {
  if (serverTime === undefined) return warning('the server does not tell its time: compare the clocks by hand');
  const differenceMs = Date.now() - serverTime.getTime();
  const seconds = Math.round(Math.abs(differenceMs) / 1000);
  if (Math.abs(differenceMs) <= TOLERATED_MS) return ok('this machine and the server have the same time');
  const direction = differenceMs > 0 ? 'ahead of' : 'behind';
  return warning(`this machine is ${seconds} s ${direction} the server: let NTP set both clocks`);
}

async function askReadiness(origin: string, signal: AbortSignal): Promise<Finding> {
  using response = await callInstance(origin, { method: 'GET', path: '/ready' }, signal);
  const text = await readText(response.body, MAX_BYTES);
  if (response.status !== 200) return failed(`the instance is not ready (status ${response.status}): read its log`);
  return formatFinding(readiness.parse(JSON.parse(text)).databaseFormat === 'outdated');
}

/** Says whether a database has the form of an older version. */
export function formatFinding(isOutdated: boolean): Finding {
  return isOutdated
    ? warning('the database has the form of an older version: run identity upgrade')
    : ok('the database is reachable, and of this version');
}

/** Sends a request without content: only a caller with the permission learns that it is invalid, and nothing happens. */
function checkToken(
  operation: 'export' | 'import',
  { origin, token }: Required<CheckedInstance>,
  signal: AbortSignal,
): Promise<Check> {
  return check(`token for ${operation}s`, async () => {
    if (token === undefined) return warning('not checked: specify --token-file');
    const path = `/admin/v1/${operation}`;
    async function* body() {
      yield Buffer.from('{}');
    }
    using response = await callInstance(origin, { method: 'POST', path, token: token.text, body: body() }, signal);
    if (response.status === 400) return ok(`the token of ${token.option} permits ${operation}s`);
    const error = await responseError({ origin, tokenOption: token.option }, response);
    return error.code === 'PERMISSION_DENIED' ? warning(error.message) : failed(error.message);
  });
}
