import { root } from '../../program.ts';
import { type Command, command, fill, type Values } from '../action.ts';
import { accountAddress, instances } from './credentials.ts';

/** So high that a 429 can only be Cloud Run's. */
const REQUESTS_PER_MINUTE = 10_000;

/** Creates a call of Terraform in the copy of its configuration. */
export function terraform(line: string): Command {
  return command(`terraform -chdir=$WORK/terraform ${line}`);
}

/** Writes the variables of a run. @param south more settings of the instance `south` */
export function variables(values: Values, south: object): string {
  const access = { exporters: [accountAddress('exporter')], importers: [accountAddress('importer')] };
  const members = Object.entries(access).map(([name, [address = '']]) => [
    name,
    [`serviceAccount:${fill(address, values)}`],
  ]);
  const entries = instances.map((id) => {
    const more = id === 'south' ? south : {};
    return [id, { domain: fill(`${id}.$DOMAIN`, values), ...Object.fromEntries(members), ...more }] as const;
  });
  const content = {
    project_id: values.get('PROJECT'),
    region: values.get('REGION'),
    dist_directory: `${root}dist`,
    requests_per_minute: REQUESTS_PER_MINUTE,
    admin_requests_per_minute: REQUESTS_PER_MINUTE,
    instances: Object.fromEntries(entries),
  };
  return JSON.stringify(content, undefined, 2);
}
