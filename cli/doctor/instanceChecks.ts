import { callServer } from '../httpClient.ts';
import { type InstanceSettings, tryOperation } from '../places/instancePlace.ts';
import { compareClocks, type Operation, type PlaceFacts, type Recognised } from '../places/place.ts';
import { recognise } from '../places/remotePlace.ts';
import { openZitadel } from '../places/zitadelPlace.ts';
import { type Check, check, type Finding, failed, ok, warning } from './localChecks.ts';

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
    return ok(
      `${origin} is ${found.service === 'zitadel' ? 'a ZITADEL instance' : `an instance, version ${found.version}`}`,
    );
  });
  // A token must not reach another service.
  if (found === undefined) return [address];
  const { service, clockAheadMs } = found;
  const reached = [address, await check('clock', () => checkClock(clockAheadMs))];
  const database = service === 'identity' ? [await check('database', () => askReadiness(origin, signal))] : [];
  return [...reached, ...database, ...(await checkToken(found, { origin, token }, signal))];
}

function checkClock(aheadMs: number | undefined): Finding {
  return aheadMs === undefined
    ? warning('the server does not tell its time: compare the clocks by hand')
    : compareClocks(aheadMs, 'the server');
}

async function askReadiness(origin: string, signal: AbortSignal): Promise<Finding> {
  using response = await callServer(origin, { method: 'GET', path: '/ready' }, signal);
  return response.status === 200
    ? ok('the database is reachable, and of this version')
    : failed(`the instance is not ready (status ${response.status}): read its log`);
}

const operations: readonly Operation[] = ['export', 'import'];

async function checkToken(
  recognised: Recognised,
  { origin, token }: CheckedInstance,
  signal: AbortSignal,
): Promise<Check[]> {
  if (token === undefined) return [{ subject: 'token', ...warning('not checked: specify --token-file') }];
  const settings = { origin, token: token.text, tokenOption: token.option };
  if (recognised.service === 'zitadel')
    return checkZitadel(() => openZitadel(settings, recognised).facts(operations, signal));
  return [await checkPermission('export', settings, signal), await checkPermission('import', settings, signal)];
}

/** Checks whether a token permits an operation. Nothing happens on the instance. */
function checkPermission(operation: Operation, settings: InstanceSettings, signal: AbortSignal): Promise<Check> {
  return check(`token for ${operation}s`, async () => {
    const { denial } = await tryOperation(settings, operation, signal);
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
    await checkRole('export', facts),
    await checkRole('import', facts),
    { subject: 'limits', ...ok((facts.limits ?? []).join('; ')) },
  ];
}

function checkRole(operation: Operation, { denied }: PlaceFacts): Promise<Check> {
  return check(`token for ${operation}s`, () =>
    denied.includes(operation)
      ? warning(`the token does not permit ${operation}s: give its user the role IAM_OWNER`)
      : ok(`the token permits ${operation}s`),
  );
}
