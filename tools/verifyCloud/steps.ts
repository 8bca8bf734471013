import type { Step } from './step.ts';
import { acceptDeployment, initialiseInstances } from './steps/acceptance.ts';
import { createLongFilter } from './steps/alertFilter.ts';
import { tryTokens } from './steps/bucketTokens.ts';
import { createKeyAccounts, createMasterKeys } from './steps/credentials.ts';
import { provokeBackupError, readIndexes, readRetention } from './steps/database.ts';
import { applyTerraform, createStateBucket, initTerraform } from './steps/deploy.ts';
import { exhaustImport } from './steps/exhaustion.ts';
import { waitAnHour } from './steps/hour.ts';
import { redeployUnchecked } from './steps/invokerCheck.ts';
import { buildArchives, checkPolicies, checkProject, enableServices } from './steps/prepare.ts';
import { waitForDomains } from './steps/reach.ts';
import { probeZPaths, sendLargeRequests } from './steps/requests.ts';
import { receiveLargeResponses } from './steps/responseSize.ts';
import { restartImport } from './steps/restart.ts';

/** The run, in its order: what changes functions beside Terraform comes after what needs them as they are. */
export const steps: readonly Step[] = [
  checkProject,
  enableServices,
  checkPolicies,
  buildArchives,
  createMasterKeys,
  createKeyAccounts,
  createStateBucket,
  initTerraform,
  applyTerraform,
  waitForDomains,
  initialiseInstances,
  acceptDeployment,
  readRetention,
  readIndexes,
  provokeBackupError,
  createLongFilter,
  tryTokens,
  probeZPaths,
  sendLargeRequests,
  receiveLargeResponses,
  restartImport,
  redeployUnchecked,
  exhaustImport,
  waitAnHour,
];
