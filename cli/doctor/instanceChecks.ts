import { placeNotKnown } from '../../shared/errors/placeErrors.ts';
import { callServer } from '../httpClient.ts';
import { findDenial, type InstanceSettings, type Operation } from '../places/instancePlace.ts';
import { clockAhead, type PlaceFacts, TOLERATED_CLOCK_MS } from '../places/place.ts';
import { type Recognised, recognise } from '../places/recognise.ts';
import { openZitadel } from '../places/zitadelPlace.ts';
import { type Check, check, type Finding, failed, ok, warning } from './check.ts';

/** An instance to check, and the token to check with it, if there is one. */
interface CheckedInstance {
  readonly origin: string;
  readonly token: { readonly text: string; readonly option: string } | undefined;
}

/** Checks an instance by its interface. It changes nothing there. */
export async function checkInstance({ origin, token }: CheckedInstance, signal: AbortSignal): Promise<Check[]> {
  let found: Recognised | undefined;
  const address = await check('address', async () => {
    found = await recognise(origin, signal);
    if (found.kind === 'unknown') throw placeNotKnown(origin, found.reason);
    return ok(`${origin} is ${found.kind === 'ours' ? `an instance, version ${found.version}` : 'a ZITADEL'}`);
  });
  // A token must not reach another service.
  if (found === undefined || found.kind === 'unknown') return [address];
  const { kind, time } = found;
  const reached = [address, await check('clock', () => compareClocks(time))];
  const database = kind === 'ours' ? [await check('database', () => askReadiness(origin, signal))] : [];
  return [...reached, ...database, ...(await checkToken(kind, { origin, token }, signal))];
}

function compareClocks(time: Date | undefined): Finding {
  const aheadMs = clockAhead(time);
  if (aheadMs === undefined) return warning('the server does not tell its time: compare the clocks by hand');
  if (Math.abs(aheadMs) <= TOLERATED_CLOCK_MS) return ok('this machine and the server have the same time');
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  const direction = aheadMs > 0 ? 'ahead of' : 'behind';
  return warning(`this machine is ${seconds} s ${direction} the server: let NTP set both clocks`);
}

async function askReadiness(origin: string, signal: AbortSignal): Promise<Finding> {
  using response = await callServer(origin, { method: 'GET', path: '/ready' }, signal);
  return response.status === 200
    ? ok('the database is reachable, and of this version')
    : failed(`the instance is not ready (status ${response.status}): read its log`);
}

async function checkToken(
  kind: 'ours' | 'zitadel',
  { origin, token }: CheckedInstance,
  signal: AbortSignal,
): Promise<Check[]> {
  if (token === undefined) return [{ subject: 'token', ...warning('not checked: specify --token-file') }];
  const settings = { origin, token: token.text, tokenOption: token.option };
  if (kind === 'zitadel') return checkZitadel(() => openZitadel(settings).facts(signal));
  return [await checkPermission('export', settings, signal), await checkPermission('import', settings, signal)];
}

/** Checks whether a token permits an operation. Nothing happens on the instance. */
function checkPermission(operation: Operation, settings: InstanceSettings, signal: AbortSignal): Promise<Check> {
  return check(`token for ${operation}s`, async () => {
    const denial = await findDenial(settings, operation, signal);
    if (denial === undefined) return ok(`the token of ${settings.tokenOption} permits ${operation}s`);
    return denial.code === 'PERMISSION_DENIED' ? warning(denial.message) : failed(denial.message);
  });
}

/** Checks what a ZITADEL says of a token. It changes nothing there. */
async function checkZitadel(readFacts: () => Promise<PlaceFacts>): Promise<Check[]> {
  let facts: PlaceFacts | undefined;
  const token = await check('token', async () => {
    facts = await readFacts();
    const { userName = '', roles = [] } = facts.caller ?? {};
    return ok(`the token is of ${userName}, with ${roles.length === 0 ? 'no role in the instance' : roles.join(', ')}`);
  });
  if (facts === undefined) return [token];
  return [
    token,
    await checkRole('exports', facts.mayExport),
    await checkRole('imports', facts.mayImport),
    { subject: 'limits', ...ok(facts.limits.join('; ')) },
  ];
}

function checkRole(operations: string, isPermitted: boolean): Promise<Check> {
  return check(`token for ${operations}`, () =>
    isPermitted
      ? ok(`the token permits ${operations}`)
      : warning(`the token does not permit ${operations}: give its user the role IAM_OWNER`),
  );
}
