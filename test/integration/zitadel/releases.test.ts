import { describe, expect, it } from 'vitest';
import { hasContext } from '../../../cli/zitadel/rpc.ts';
import { readCaller } from '../../../cli/zitadel/zitadelInstance.ts';
import { describeKnownReleases, signedReleases } from '../../../shared/organisation/zitadelReleases.ts';
import { zitadelReleases } from '../../../shared/organisation/zitadelReleaseTable.ts';
import { call } from '../../support/command.ts';
import { organisation } from '../../support/fixtures/organisations.ts';
import { exportFileWith } from '../../support/migrations/migrating.ts';
import type { Release } from '../../support/zitadel/behaviour.ts';
import { connectTo, importIntoStandIn } from '../../support/zitadel/connect.ts';
import { people } from '../../support/zitadel/files.ts';
import { filledZitadel } from '../../support/zitadel/placeOfZitadel.ts';
import { startZitadel } from '../../support/zitadel/standIn.ts';

const releases: readonly Release[] = ['2.71', '4.0', '2026-07'];

const [template] = people(1);
/** No path of REST takes the id. */
const unusual = { ...template, userId: 'auth0|ä/b', user: { ...template?.user, userName: 'unusual' } };
const shop = { projectId: '5', project: { name: 'Shop' } };
const grant = { grantId: '7', projectGrant: { projectId: '5', grantedOrgId: 'guest' } };
const member = { userId: unusual.userId, projectId: '5', grantId: '7', roles: ['PROJECT_GRANT_OWNER'] };
const organisations = [
  organisation('guest'),
  organisation('acme', {
    humanUsers: [...people(21), unusual],
    projects: [shop],
    projectGrants: [grant],
    projectGrantMembers: [member],
  }),
];

describe.each(releases)('a ZITADEL of release %s', (release) => {
  it('has every record of an import that is sent twice, also while it does not show them', async () => {
    const zitadel = await startZitadel({ release, lagMs: 1_500 });
    const counts = { org: 2, humanUsers: 22, projects: 1, projectGrants: 1, projectGrantMembers: 1 };
    const first = await importIntoStandIn(zitadel, organisations);
    expect({ errors: first.errors, ...first.summary }).toMatchObject({ created: counts, failed: {} });
    for (const attempt of ['hidden', 'shown']) {
      const { errors, summary } = await importIntoStandIn(zitadel, organisations);
      expect([attempt, errors, summary]).toMatchObject([attempt, undefined, { created: {}, unchanged: counts }]);
    }
  });

  it('has its errors recognised over REST and gRPC-Web', async () => {
    const zitadel = await startZitadel({ release });
    expect(await hasContext(connectTo(zitadel), 'unknown')).toBe(false);
    const rejection = /rejects the token of --token-file \(Errors\.Token\.Invalid \(AUTH-7fs1e\)\): /;
    await expect(readCaller(connectTo(zitadel, 'wrong'))).rejects.toThrow(rejection);
    await expect(hasContext(connectTo(zitadel, 'wrong'), 'acme')).rejects.toThrow(rejection);
    zitadel.tokens.set('guest', 'guest-token');
    const denial =
      /does not permit this call with the token of --token-file \(membership not found \(AUTHZ-cdgFk\)\): /;
    await expect(hasContext(connectTo(zitadel, 'guest-token'), 'acme')).rejects.toThrow(denial);
  });
});

describe('a ZITADEL with a newer version than this command', () => {
  it('is announced by a plan and by an import, with the assumed releases', async () => {
    const version = `v${1 + Math.max(...zitadelReleases.map(({ major }) => major))}.1.0`;
    const { zitadel, tokenFile } = await filledZitadel([], { version });
    // The field distinguishes the stand-in's default release from earlier releases.
    const assumed = signedReleases().newestFirst.find(({ sign }) => sign.field === 'orgState');
    const assumption = `this command does not know ZITADEL ${version}, and assumes that it behaves like ZITADEL ${describeKnownReleases(assumed?.releases ?? {})}, because imports of both have the field orgState`;
    const file = await exportFileWith(organisation('acme'));
    const to = `--to ${zitadel.url} --to-token-file ${tokenFile}`;
    const { stdout } = await call(`migrate --from ${file} ${to} --dry-run`, 0);
    expect(stdout).toContain(`${zitadel.url}: ${assumption}`);
    const imported = await call(`import ${file} ${to.replace('--to-token', '--token')}`, 0);
    expect(imported.stdout).toContain(assumption);
  });
});
