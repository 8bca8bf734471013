// The rules for the manual steps after an import: those of every file, and those that follow from ZITADEL's behaviour.

import { type IssueParams, issueParams, issueText, type ParametersOf } from '../errors/issueText.ts';
import { manualSteps } from '../errors/manualStepReasons.ts';
import { recordSections, sections } from '../organisation/allSections.ts';
import { fieldFacts } from '../organisation/fieldFacts.ts';
import type { Section, SectionName } from '../organisation/section.ts';
import {
  equalButForCase,
  type FieldFact,
  type ManualStep,
  type MissingProviders,
  type RecordFact,
  type SecretField,
  stepText,
} from '../organisation/zitadelFacts.ts';
import { allReleases, contains, overlap, type ReleaseRange } from '../organisation/zitadelReleases.ts';

/** The content and the reader of a file. */
export interface FileContent {
  readonly withPasswords: boolean;
  readonly withOtp: boolean;
  readonly withKeys: boolean;
  /** Whether the file is for ZITADEL. */
  readonly forZitadel: boolean;
  /** The releases that the ZITADEL may be of; absent if they are unknown. */
  readonly releases?: ReleaseRange;
  /** Whether this command sends the file to the ZITADEL: it reads the responses, and closes what the file has as closed. */
  readonly inSteps?: boolean;
  /** The selected secrets: the source has none of those that the file lacks. */
  readonly asked?: Readonly<Record<SecretField, boolean>>;
}

/** Something to do by hand after an import of a file. */
export interface LeftToDoRule extends Pick<ManualStep, 'scope' | 'unlessValidated' | 'applies' | 'details'> {
  /** The names of the sections whose records make it necessary. */
  readonly sections: readonly SectionName[];
  /** The stable name of the step, for programs. */
  readonly reason: string;
  readonly params?: IssueParams;
  readonly message: string;
  /** The secrets that the file lacks, and the step if the call has selected them, because the source has none then. */
  readonly lacks?: { readonly field: SecretField; readonly step: Pick<LeftToDoRule, 'reason' | 'message' | 'params'> };
  /** Whether the file's content makes it necessary; by default always. */
  readonly when?: (content: FileContent) => boolean;
}

/** Creates the rule of a manual step of every target. */
function stepOf<Reason extends keyof typeof manualSteps>(
  reason: Reason,
  sections: readonly SectionName[],
  values: ParametersOf<(typeof manualSteps)[Reason]>,
): LeftToDoRule {
  const params = issueParams(values);
  const given = Object.keys(params).length === 0 ? {} : { params };
  return { reason, sections, ...given, message: issueText(manualSteps[reason], params, 'http') };
}

interface LackedSecrets {
  readonly sections: readonly SectionName[];
  readonly field: SecretField;
  readonly what: string;
  /** What to do instead of another export with them. */
  readonly otherwise: string;
  /** Whether existing people get them only by an overwrite, which ZITADEL does not have. */
  readonly overwrites?: true;
  /** Whether the rule is about files for ZITADEL. */
  readonly forZitadel?: true;
}

/** Creates the rule for a file without some secrets: export again with them, or the other remedy. */
function ofLacking({ sections, field, what, otherwise, overwrites, forZitadel }: LackedSecrets): LeftToDoRule {
  const secret = field.replace('with', '').toLowerCase();
  const overwrite = overwrites ? ', overwrite people who exist (`on_conflict`, or --on-conflict overwrite)' : '';
  const include = `include them (\`with_${secret}\`, or --with ${secret})${overwrite}`;
  const when = (content: FileContent) =>
    !content[field] && (overwrites ? !content.forZitadel : forZitadel !== true || content.forZitadel);
  const { sections: _, ...step } = stepOf('secrets_not_in_source', sections, { secrets: what, otherwise });
  const rule = stepOf('secrets_missing', sections, { secrets: what, include, otherwise });
  return { ...rule, scope: 'file', when, lacks: { field, step } };
}

const addAgain = 'people who lack them must add them again';

/** The rules for every target (specification 8.4). */
const forEveryTarget: readonly LeftToDoRule[] = [
  { ...stepOf('instance_not_exported', ['org'], {}), scope: 'file' },
  ofLacking({
    sections: ['humanUsers'],
    field: 'withPasswords',
    what: 'password hashes',
    otherwise: 'people who lack them must set new passwords',
    overwrites: true,
  }),
  ofLacking({
    sections: ['humanUsers'],
    field: 'withOtp',
    what: 'TOTP seeds and OTP e-mail factors',
    otherwise: addAgain,
    overwrites: true,
  }),
  ofLacking({
    sections: ['humanUsers'],
    field: 'withOtp',
    what: 'TOTP seeds',
    otherwise: addAgain,
    forZitadel: true,
  }),
  { ...stepOf('factors_not_exported', ['humanUsers'], {}), scope: 'file' },
  { ...stepOf('tokens_not_exported', ['machineUsers'], {}), scope: 'file' },
  ofLacking({
    sections: ['machineUsers'],
    field: 'withKeys',
    what: 'machine keys',
    otherwise: 'create new ones in the target',
  }),
  ofLacking({
    sections: ['apiApps', 'oidcApps'],
    field: 'withKeys',
    what: 'application keys',
    otherwise: 'create new ones in the target',
  }),
  {
    ...stepOf('client_secret_missing', ['oidcIdps'], {}),
    when: (content) => !content.forZitadel,
    applies: ({ clientSecret }) => clientSecret === undefined,
  },
];

/** The sections that ZITADEL accepts in an import, and drops. */
export const droppedSections: readonly SectionName[] = sections
  .filter(({ zitadelStep }) => zitadelStep === 'dropped')
  .map(({ name }) => name);

type ZitadelFact = FieldFact | RecordFact;

const uses = recordSections.flatMap((section) =>
  [...fieldFacts(section), ...(section.zitadel?.records ?? [])].map((fact: ZitadelFact) => ({
    fact,
    section: section.name,
  })),
);

/** The rules of the manual steps of each fact. A fact that several sections share has the same rules for all. */
const rulesByFact: ReadonlyMap<ZitadelFact, readonly LeftToDoRule[]> = new Map(
  [...Map.groupBy(uses, ({ fact }) => fact)].map(([fact, shared]) => {
    // Only an import into ZITADEL knows the other records of the file. It adds these steps itself.
    const sections = 'dependsOnFile' in fact ? [] : shared.map(({ section }) => section);
    return [fact, (fact.steps ?? []).map((step) => ({ ...stepRule(fact, step), sections }))];
  }),
);

/** Returns the rules of a fact about a record. */
export function rulesOf(fact: RecordFact): readonly LeftToDoRule[] {
  return rulesByFact.get(fact) ?? [];
}

/** Returns the rule of a manual step, for ZITADEL only. */
function stepRule(fact: Omit<FieldFact, 'does' | 'fields'>, step: ManualStep): LeftToDoRule {
  const { reason, because: _, remedy, byHand, ifWith, ifWithout, ...others } = step;
  const text = stepText(fact, step);
  const isOf = fact.ifKnown ? contains : overlap;
  return {
    ...others,
    reason,
    sections: [],
    message: remedy === undefined ? text : `${text}: ${remedy}`,
    when: (content) =>
      content.forZitadel &&
      isOf(fact, content.releases ?? allReleases) &&
      !(byHand && content.inSteps) &&
      (ifWith === undefined || content[ifWith]) &&
      (ifWithout === undefined || !content[ifWithout]),
  };
}

/** All rules that depend on a record alone, in the order of the entries. */
export const leftToDoRules: readonly LeftToDoRule[] = [...forEveryTarget, ...[...rulesByFact.values()].flat()];

/** The rule for a record that refers to organisations which are not in the file, or to their projects. */
export const omittedOrganisations = stepOf('organisations_missing', [], {});

/** The rule for a record whose name or key differs from another record's by case only. */
export const repeatedName = stepRule(equalButForCase, equalButForCase);

const providersToCreate = stepOf('providers_missing', [], {});

const providerRules: ReadonlyMap<MissingProviders, LeftToDoRule> = new Map(
  recordSections.flatMap(({ zitadel: { missingProviders: missing } = {} }) =>
    missing === undefined ? [] : [[missing, stepRule(missing, missing)] as const],
  ),
);

/** Returns the rule for a record whose identity providers are not in the file. */
export function missingProviders({ zitadel }: Section, { forZitadel }: FileContent): LeftToDoRule {
  const missing = forZitadel ? zitadel?.missingProviders : undefined;
  return (missing && providerRules.get(missing)) ?? providersToCreate;
}
