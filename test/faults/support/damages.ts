import { z } from 'zod';
import type { Exported } from '../../support/instances/testInstance.ts';

/** A damage to an export file, and the part of its manifest that shows it; empty if none can. */
export type Damage = readonly [damaged: () => string, field: string];

type Organisation = Exported['orgs'][number];
const people = z.array(z.looseObject({}));

/** Damages of `file`, which has two organisations, `O` and `Q`; `other` is an export with a different organisation. */
export function damagesOf(file: Exported, other: Exported): Readonly<Record<string, Damage>> {
  return {
    'a person is left out': [
      inOrganisation(file, 'O', (org) => ({ humanUsers: peopleOf(org).slice(1) })),
      'manifest.counts.humanUsers',
    ],
    'all metadata is left out': [
      inOrganisation(file, 'O', () => ({ userMetadata: [] })),
      'manifest.counts.userMetadata',
    ],
    'a section is left out': [inOrganisation(file, 'O', () => ({ projects: undefined })), 'manifest.counts.projects'],
    'an organisation is left out': [() => edited(file, (orgs) => orgs.slice(1)), 'manifest.counts.orgs'],
    'every organisation is left out': [() => edited(file, () => []), 'manifest.counts.orgs'],
    'a person is there twice': [
      inOrganisation(file, 'O', (org) => ({ humanUsers: [...peopleOf(org), ...peopleOf(org).slice(1)] })),
      'manifest.counts.humanUsers',
    ],
    'a person is put in the place of another': [
      inOrganisation(file, 'O', (org) => ({ humanUsers: [peopleOf(org)[0], peopleOf(org)[0]] })),
      'manifest.digest',
    ],
    'people of two organisations have changed places': [
      () => edited(file, (orgs) => orgs.map((org, index) => ({ ...org, humanUsers: orgs[1 - index]?.humanUsers }))),
      'manifest.digest',
    ],
    'a name is edited': [inOrganisation(file, 'Q', () => ({ org: { name: 'Another' } })), 'manifest.digest'],
    'an e-mail address is edited': [
      () => file.bytes.replace('first.last@example.com', 'first.lost@example.com'),
      'manifest.digest',
    ],
    'a password hash is edited': [() => file.bytes.replace('$2a$10$x', '$2a$10$y'), 'manifest.digest'],
    'a password hash is taken out': [
      () => file.bytes.replace('"hashedPassword":{"value":"$2a$10$x"}', '"hashedPassword":{}'),
      'manifest.digest',
    ],
    'the secret of a factor is edited': [() => file.bytes.replace('JBSWY3DP', 'JBSWY3DQ'), 'manifest.digest'],
    'a factor is added': [
      () => file.bytes.replace('{"userId":"alice"', '{"otpEmail":true,"userId":"alice"'),
      'manifest.digest',
    ],
    'an organisation is deactivated': [
      () => file.bytes.replace('ORG_STATE_ACTIVE', 'ORG_STATE_INACTIVE'),
      'manifest.digest',
    ],
    'an organisation loses its name': [inOrganisation(file, 'Q', () => ({ org: undefined })), 'manifest.counts.org'],
    'records are counted that nobody has': [
      () => file.bytes.replace('"counts":{', '"counts":{"unknown":1,'),
      'manifest.counts.unknown',
    ],
    'a manifest has another version': [() => file.bytes.replace('"version":1', '"version":2'), 'manifest.version'],
    'a manifest is text': [() => JSON.stringify({ orgs: file.orgs, manifest: 'x' }), 'manifest'],
    'a state is edited': [() => file.bytes.replace('USER_STATE_ACTIVE', 'USER_STATE_LOCKED'), 'manifest.digest'],
    'an organisation of another file is added': [
      () => edited(file, (orgs) => [...orgs, ...other.orgs]),
      'manifest.counts.orgs',
    ],
    'it has the manifest of another file': [
      () => JSON.stringify({ orgs: file.orgs, manifest: other.manifest }),
      'manifest.counts.orgs',
    ],
    'a count is edited': [() => file.bytes.replace('"humanUsers":3', '"humanUsers":2'), 'manifest.counts.humanUsers'],
    'the digest is edited': [
      () => file.bytes.replace(/sha256:./, (start) => (start === 'sha256:0' ? 'sha256:1' : 'sha256:0')),
      'manifest.digest',
    ],
    'it stands twice, one after the other': [() => `${file.bytes}${file.bytes}`, ''],
    'another file stands behind it': [() => `${file.bytes}${other.bytes}`, ''],
  };
}

/** The file with its people in another order, and its organisations too. */
export function reordered(file: Exported): string {
  return edited(file, (orgs) => orgs.toReversed().map((org) => ({ ...org, humanUsers: peopleOf(org).toReversed() })));
}

/** The file with another value in place of its organisations. */
function edited({ bytes }: Exported, change: (orgs: Exported['orgs']) => readonly object[]): string {
  const parsed: unknown = JSON.parse(bytes);
  const { orgs, manifest } = z
    .object({ orgs: z.array(z.looseObject({ orgId: z.string() })), manifest: z.unknown() })
    .parse(parsed);
  return JSON.stringify({ orgs: change(orgs), manifest });
}

function inOrganisation(file: Exported, orgId: string, change: (org: Organisation) => object): () => string {
  return () => edited(file, (orgs) => orgs.map((org) => (org.orgId === orgId ? { ...org, ...change(org) } : org)));
}

function peopleOf(org: Organisation | undefined): object[] {
  return people.parse(org?.humanUsers);
}
