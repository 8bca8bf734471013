// The rules for the manual steps after an import. Some rules apply to every target, the others follow from facts about
// ZITADEL.

import type { IssueRow } from '../errors/issueText.ts';
import { manualSteps } from '../errors/manualStepReasons.ts';
import { recordSections } from '../organisation/allSections.ts';
import { fieldFacts } from '../organisation/fieldFacts.ts';
import type { Section, SectionName } from '../organisation/sections/section.ts';
import {
  equalButForCase,
  type FieldFact,
  type ManualStep,
  type MissingProviders,
  mayApply,
  type RecordFact,
  type SecretField,
  stepRow,
} from '../organisation/zitadelFacts.ts';
import { allReleases, type ReleaseRange } from '../organisation/zitadelReleases.ts';

export interface FileContent {
  /**
   * `withPasswords`, `withOtp` and `withKeys` are true if the file contains secrets of this kind. They are undefined
   * until the whole file was read. Until then, `LeftToDo` collects the steps for both cases.
   */
  readonly withPasswords?: boolean;
  readonly withOtp?: boolean;
  readonly withKeys?: boolean;
  readonly forZitadel: boolean;
  /** The releases that the target may run; absent if unknown. */
  readonly releases?: ReleaseRange;
  /**
   * Whether the command `identity` itself sends the file to ZITADEL. The command then also deactivates or locks the
   * records that are deactivated or locked in the file, so the user need not.
   */
  readonly inSteps?: boolean;
  /** The secrets that the request selected. If the file lacks one of these secrets, the source lacks it too. */
  readonly asked?: Readonly<Record<SecretField, boolean>>;
}

export interface LeftToDoRule extends Pick<ManualStep, 'scope' | 'unlessValidated' | 'applies' | 'params'> {
  readonly sections: readonly SectionName[];
  readonly reason: string;
  readonly row: IssueRow;
  /**
   * Present if the rule concerns a file without the secrets `field`. If the request selected these secrets, the source
   * lacks them too. Then `step` replaces the rule's own step.
   */
  readonly lacks?: { readonly field: SecretField; readonly step: Pick<LeftToDoRule, 'reason' | 'row'> };
  readonly when?: (content: FileContent) => boolean;
}

function stepOf(reason: keyof typeof manualSteps, ...names: readonly SectionName[]): LeftToDoRule {
  return { reason, sections: names, row: manualSteps[reason] };
}

type LackedKind = {
  [Step in keyof typeof manualSteps]: Step extends `${infer Kind}_not_in_source` ? Kind : never;
}[keyof typeof manualSteps];

/**
 * Creates a rule for a file that lacks a kind of secrets.
 * @param forZitadel whether the rule applies only to files for ZITADEL (true), or only to other files (false); by
 *   default to both
 */
function ofLacking(
  kind: LackedKind,
  field: SecretField,
  names: readonly SectionName[],
  forZitadel?: boolean,
): LeftToDoRule {
  const when = (content: FileContent) =>
    content[field] !== true && (forZitadel === undefined || content.forZitadel === forZitadel);
  const step = stepOf(`${kind}_not_in_source`);
  return { ...stepOf(`${kind}_missing`, ...names), scope: 'file', when, lacks: { field, step } };
}

/** The rules that do not follow from facts about ZITADEL (specification 8.4). */
const forEveryTarget: readonly LeftToDoRule[] = [
  { ...stepOf('instance_not_exported', 'org'), scope: 'file' },
  ofLacking('passwords', 'withPasswords', ['humanUsers'], false),
  ofLacking('otp', 'withOtp', ['humanUsers'], false),
  ofLacking('totp_seeds', 'withOtp', ['humanUsers'], true),
  { ...stepOf('factors_not_exported', 'humanUsers'), scope: 'file' },
  { ...stepOf('tokens_not_exported', 'machineUsers'), scope: 'file' },
  ofLacking('machine_keys', 'withKeys', ['machineUsers']),
  ofLacking('app_keys', 'withKeys', ['apiApps', 'oidcApps']),
  {
    ...stepOf('client_secret_missing', 'oidcIdps'),
    when: (content) => !content.forZitadel,
    applies: ({ clientSecret }) => clientSecret === undefined,
  },
];

type ZitadelFact = FieldFact | RecordFact;

const uses = recordSections.flatMap((section) =>
  [...fieldFacts(section), ...(section.zitadel?.records ?? [])].map((fact: ZitadelFact) => ({
    fact,
    section: section.name,
  })),
);

/**
 * Maps each fact about ZITADEL to the rules for its manual steps. If several sections share a fact, its rules apply to
 * all these sections.
 */
const rulesByFact: ReadonlyMap<ZitadelFact, readonly LeftToDoRule[]> = new Map(
  [...Map.groupBy(uses, ({ fact }) => fact)].map(([fact, shared]) => {
    // A rule checks only a single record. So the rules of a fact that also depends on other records apply to no section
    // here; the import into ZITADEL adds the steps.
    const sections = 'dependsOnFile' in fact ? [] : shared.map(({ section }) => section);
    return [fact, (fact.steps ?? []).map((step) => ({ ...stepRule(fact, step), sections }))];
  }),
);

export function rulesOf(fact: RecordFact): readonly LeftToDoRule[] {
  return rulesByFact.get(fact) ?? [];
}

/** Creates the rule for a manual step of a fact about ZITADEL. The rule applies only to files for ZITADEL. */
function stepRule(fact: Omit<FieldFact, 'does' | 'fields'>, step: ManualStep): LeftToDoRule {
  const { reason, because: _, remedy: __, byHand, ifWith, ifWithout, ...others } = step;
  return {
    ...others,
    reason,
    sections: [],
    row: stepRow(fact, step),
    when: (content) =>
      content.forZitadel &&
      mayApply(fact, content.releases ?? allReleases) &&
      !(byHand && content.inSteps) &&
      (ifWith === undefined || content[ifWith] !== false) &&
      (ifWithout === undefined || content[ifWithout] !== true),
  };
}

/** All rules that depend on a single record, in the order in which a manifest lists their steps. */
export const leftToDoRules: readonly LeftToDoRule[] = [...forEveryTarget, ...[...rulesByFact.values()].flat()];

/** The rule for a record that refers to organisations outside the file, or to their projects. */
export const omittedOrganisations = stepOf('organisations_missing');

/** The rule for a record whose name or key differs only in case from the name or key of another record. */
export const repeatedName = stepRule(equalButForCase, equalButForCase);

const providersToCreate = stepOf('providers_missing');

const providerRules: ReadonlyMap<MissingProviders, LeftToDoRule> = new Map(
  recordSections.flatMap(({ zitadel: { missingProviders: missing } = {} }) =>
    missing === undefined ? [] : [[missing, stepRule(missing, missing)] as const],
  ),
);

/** The rules that depend on several records. */
export const otherRules: readonly LeftToDoRule[] = [
  omittedOrganisations,
  repeatedName,
  providersToCreate,
  ...providerRules.values(),
];

export function missingProviders({ zitadel }: Section, { forZitadel }: FileContent): LeftToDoRule {
  const missing = forZitadel ? zitadel?.missingProviders : undefined;
  return (missing && providerRules.get(missing)) ?? providersToCreate;
}
