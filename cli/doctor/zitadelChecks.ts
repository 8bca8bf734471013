import type { PlaceFacts } from '../places/place.ts';
import { type Check, check, ok, warning } from './check.ts';

/** Checks what a ZITADEL says of a token. It changes nothing there. */
export async function checkZitadel(readFacts: () => Promise<PlaceFacts>): Promise<Check[]> {
  let facts: PlaceFacts | undefined;
  const token = await check('token', async () => {
    facts = await readFacts();
    const { userName = '', roles = [] } = facts.caller ?? {};
    return ok(`the token is of ${userName}, with ${roles.length === 0 ? 'no role in the instance' : roles.join(', ')}`);
  });
  if (facts === undefined) return [token];
  return [
    token,
    await checkPermission('exports', facts.mayExport),
    await checkPermission('imports', facts.mayImport),
    { subject: 'limits', ...ok(facts.limits.join('; ')) },
  ];
}

function checkPermission(operations: string, isPermitted: boolean): Promise<Check> {
  return check(`token for ${operations}`, () =>
    isPermitted
      ? ok(`the token permits ${operations}`)
      : warning(`the token does not permit ${operations}: give its user the role IAM_OWNER`),
  );
}
