import { describeRpcClients } from '../support/http/describeRpcClients.ts';
import { rpcClients } from '../support/http/rpcClients.ts';
import { describeDeployment } from '../support/instances/deployments.ts';

// A proxy in front of a deployment may forward HTTP/1.1 only.
const onlyHttp1 = process.env.ACCEPTANCE_HTTP1 === 'true';

describeDeployment('the user service', (get) => {
  const clients = onlyHttp1 ? rpcClients.filter(({ http2 }) => !http2) : rpcClients;
  describeRpcClients(() => ({ url: get().target.url, instance: get().target }), clients);
});
