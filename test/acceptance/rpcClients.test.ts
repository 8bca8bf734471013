import { describeDeployments } from '../support/deployments.ts';
import { describeRpcClients } from '../support/describeRpcClients.ts';
import { rpcClients } from '../support/rpcClients.ts';

// What stands in front of a deployment may forward HTTP/1.1 only.
const onlyHttp1 = process.env.ACCEPTANCE_HTTP1 === 'true';

describeDeployments('RemoveOTPEmail', (get) => {
  const clients = onlyHttp1 ? rpcClients.filter(({ http2 }) => !http2) : rpcClients;
  describeRpcClients(() => ({ url: get().target.url, instance: get().target }), clients);
});
