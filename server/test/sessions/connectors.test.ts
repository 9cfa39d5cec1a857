import { connectorConformance } from '../conformance/connector.ts';
import { describeOnEachDeployment } from '../support/databases/databases.ts';
import { sandboxUnderTest } from '../support/networks/sandbox.ts';
import { whatsappUnderTest } from '../support/networks/whatsapp.ts';
import { whatsappCloudUnderTest } from '../support/networks/whatsappCloud.ts';

for (const network of [sandboxUnderTest, whatsappCloudUnderTest, whatsappUnderTest]) {
  describeOnEachDeployment(`a session on ${network.connector}`, (newHome, deployment) =>
    connectorConformance(network, newHome, deployment),
  );
}
