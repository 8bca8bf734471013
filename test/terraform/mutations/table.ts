import type { Witness } from './mutant.ts';

/** A mistake, and what noticed it. */
export interface MutationOutcome {
  readonly mutation: Mutation;
  readonly witness: Witness;
}

/** A mistake in the configuration that a test must notice. */
export interface Mutation {
  /** What the configuration promises, and the mistake breaks. */
  readonly promise: string;
  /** The file, relative to `terraform/`. */
  readonly file: string;
  /** A text that the file has once. */
  readonly from: string;
  readonly to: string;
}

const settings = 'modules/instance/settings.tf';
const functions = 'modules/instance/functions.tf';
const accounts = 'modules/instance/service_accounts.tf';
const build = 'build.tf';
const alerts = 'modules/monitoring/alerts.tf';
const logAlerts = 'modules/monitoring/log_alerts.tf';
const database = 'modules/instance/database.tf';
const frontend = 'modules/edge/frontend.tf';
const trail = 'modules/instance/audit.tf';
const uptime = 'modules/instance/uptime.tf';
const instances = 'instances.tf';
const thresholds = 'modules/monitoring/thresholds.tf';

const access: readonly Mutation[] = [
  {
    promise: "a function runs as its own account, not another's",
    file: functions,
    from: 'google_service_account.function[each.key].email',
    to: 'google_service_account.function["import"].email',
  },
  {
    promise: "a role on the database is granted to the function's own account",
    file: accounts,
    from: 'role    = each.value.database_role\n  member  = google_service_account.function[each.key].member',
    to: 'role    = each.value.database_role\n  member  = google_service_account.function["import"].member',
  },
  { promise: 'a role on the database holds for this database only', file: accounts, from: 'name == ', to: 'name != ' },
  { promise: 'an export only reads the database', file: settings, from: 'datastore.viewer', to: 'datastore.user' },
  {
    promise: 'the master key is read by the accounts that need it',
    file: accounts,
    from: 'role      = "roles/secretmanager.secretAccessor"\n  member    = google_service_account.function[each.key].member',
    to: 'role      = "roles/secretmanager.secretAccessor"\n  member    = google_service_account.function["removeOtpEmail"].member',
  },
  {
    promise: 'all processes of a function have the same version of the master key',
    file: functions,
    from: 'secret_environment_variables.value.version',
    to: '"latest"',
  },
  {
    promise: 'a function is reached from the internet through the load balancer only',
    file: functions,
    from: 'ALLOW_INTERNAL_AND_GCLB',
    to: 'ALLOW_ALL',
  },
  {
    promise: 'everyone may invoke, and do nothing else',
    file: 'modules/instance/invoker.tf',
    from: 'roles/run.invoker',
    to: 'roles/run.admin',
  },
  {
    promise: 'a build writes to its repository, and cannot administer it',
    file: build,
    from: 'roles/artifactregistry.writer',
    to: 'roles/artifactregistry.repoAdmin',
  },
  { promise: 'a build reads no transfer bucket', file: build, from: '/buckets/gcf-v2-sources-', to: '/buckets/' },
  {
    promise: 'a build with a key reads its sources, whose bucket is named after the key',
    file: build,
    from: 'var.kms_key == null ? "/" : "-"',
    to: '"/"',
  },
  { promise: 'a build reads the sources of its own region only', file: build, from: ' ? "/" : "-"', to: ' ? "" : ""' },
  {
    promise: 'the load balancer reaches functions over TLS',
    file: 'modules/edge/backends.tf',
    from: '"HTTPS"',
    to: '"HTTP"',
  },
  { promise: 'old versions of TLS are rejected', file: frontend, from: 'TLS_1_2', to: 'TLS_1_0' },
];

const data: readonly Mutation[] = [
  {
    promise: "a database is in its instance's location, which cannot change later",
    file: instances,
    from: 'coalesce(each.value.location, var.region)',
    to: 'var.region',
  },
  {
    promise: 'a database cannot be deleted by mistake',
    file: database,
    from: 'DELETE_PROTECTION_ENABLED',
    to: 'DELETE_PROTECTION_DISABLED',
  },
  {
    promise: 'any minute of a week can be recovered',
    file: database,
    from: 'POINT_IN_TIME_RECOVERY_ENABLED',
    to: 'POINT_IN_TIME_RECOVERY_DISABLED',
  },
  {
    promise: 'an instance can be pointed at a restored database',
    file: instances,
    from: 'coalesce(each.value.database, each.key)',
    to: 'each.key',
  },
  { promise: 'removing an instance keeps its audit trail', file: trail, from: '"ABANDON"', to: '"DELETE"' },
  { promise: 'the audit trail gets the lines of the audit', file: trail, from: '\\"audit\\"', to: '\\"access\\"' },
  {
    promise: 'no bucket is deleted with files',
    file: 'modules/instance/buckets.tf',
    from: 'force_destroy               = false',
    to: 'force_destroy               = true',
  },
  {
    promise: 'a deleted file cannot be recovered',
    file: 'modules/instance/buckets.tf',
    from: 'retention_duration_seconds = 0',
    to: 'retention_duration_seconds = 604800',
  },
  { promise: 'no field is indexed by default', file: 'modules/instance/indexes.tf', from: '__default__', to: 'users' },
];

const operation: readonly Mutation[] = [
  {
    promise: 'the first build waits until its roles have taken effect',
    file: instances,
    from: ', time_sleep.build_roles',
    to: '',
  },
  {
    promise: 'the first build waits for its right to read the sources',
    file: build,
    from: '    google_project_iam_member.build_source,\n',
    to: '',
  },
  {
    promise: 'a function that was not built is deleted before another takes its name',
    file: instances,
    from: 'services = local.services[id]',
    to: 'services = module.instance[id].services',
  },
  {
    promise: "calls with a user's credentials have a quota project",
    file: 'versions.tf',
    from: 'user_project_override = true',
    to: 'user_project_override = false',
  },
  {
    promise: 'a second plan is empty: the dashboard writes no position of zero',
    file: 'modules/monitoring/dashboard.tf',
    from: ' if position != 0',
    to: '',
  },
  {
    promise: 'imports have as many processes as was measured, not 100 more',
    file: settings,
    from: 'max_instances = 20\n    }\n  }\n}',
    to: 'max_instances = 120\n    }\n  }\n}',
  },
  { promise: 'clients without IPv4 reach the load balancer', file: frontend, from: '= each.key', to: '= "IPV4"' },
  {
    promise: 'responses stay below what the platform sends',
    file: 'modules/instance/environment.tf.json',
    from: '"10000000"',
    to: '"32000000"',
  },
  { promise: 'an empty variable is no difference at every plan', file: functions, from: ' if value != ""', to: '' },
  {
    promise: 'every service that is used is enabled',
    file: 'project.tf',
    from: '    "firebaserules.googleapis.com",\n',
    to: '',
  },
  {
    promise: 'the 26th instance is rejected',
    file: 'variables_instances.tf',
    from: 'length(var.instances) <= 25',
    to: 'length(var.instances) <= 250',
  },
  {
    promise: 'a route leads to its function',
    file: 'modules/edge/routes.json',
    from: '"function": "export", "path": "/admin/v1/export"',
    to: '"function": "import", "path": "/admin/v1/export"',
  },
  {
    promise: 'the limit of exports and imports is checked before the general one',
    file: 'modules/edge/throttling.tf',
    from: 'priority    = 900',
    to: 'priority    = 1900',
  },
  {
    promise: 'another project can authorise the domain too',
    file: 'modules/edge/certificates.tf',
    from: 'PER_PROJECT_RECORD"\n',
    to: 'FIXED_RECORD"\n',
  },
  {
    promise: 'a domain can change, although an alert uses its uptime check',
    file: uptime,
    from: 'create_before_destroy = true',
    to: 'create_before_destroy = false',
  },
  { promise: 'all resources have the labels', file: 'versions.tf', from: '  default_labels = local.labels\n', to: '' },
];

const monitoring: readonly Mutation[] = [
  { promise: '1 % of failed removals raises an alert', file: thresholds, from: '0.01', to: '0.5' },
  { promise: 'removals above 2 seconds raise an alert', file: thresholds, from: '= 2 }', to: '= 20 }' },
  { promise: '90 % of the memory raises an alert', file: thresholds, from: '0.9', to: '0.99' },
  { promise: 'an incident closes by itself', file: thresholds, from: '"1800s"', to: '"604800s"' },
  { promise: 'a client that leaves an import raises an alert', file: logAlerts, from: '"CANCELLED", ', to: '' },
  { promise: 'a domain that fails from two places raises an alert', file: alerts, from: ' = 1\n', to: ' = 5\n' },
  { promise: 'an uptime check is counted by its last results', file: alerts, from: 'NEXT_OLDER', to: 'COUNT' },
  { promise: 'alerts reach the address', file: instances, from: 'local.notification', to: 'var.notification' },
  {
    promise: 'a plan warns while nobody is notified of alerts',
    file: 'alerts.tf',
    from: 'var.alert_email != null || length',
    to: 'true || length',
  },
  {
    promise: 'reading a key is in the log, whoever does it',
    file: 'audit.tf',
    from: '"secretmanager.googleapis.com" = []',
    to: '"secretmanager.googleapis.com" = flatten(values(module.instance)[*].accounts)',
  },
  {
    promise: 'a failed backup is an error, not a warning',
    file: logAlerts,
    from: 'severity              = "ERROR"',
    to: 'severity              = "WARNING"',
  },
  {
    promise: 'exhausted processes raise an alert',
    file: alerts,
    from: 'metric.labels.response_code = \\"429\\"',
    to: 'metric.labels.response_code = \\"503\\"',
  },
  {
    promise: 'the uptime check reads the database',
    file: 'modules/instance/probe.json',
    from: '"/ready"',
    to: '"/health"',
  },
  {
    promise: 'the uptime check verifies the certificate',
    file: uptime,
    from: 'validate_ssl   = true',
    to: 'validate_ssl   = false',
  },
];

/** The mistakes, in the order of the report. */
export const mutations: readonly Mutation[] = [...access, ...data, ...operation, ...monitoring];
