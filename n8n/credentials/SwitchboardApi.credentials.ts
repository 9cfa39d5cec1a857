import type {
  IAuthenticateGeneric,
  ICredentialTestRequest,
  ICredentialType,
  Icon,
  INodeProperties,
} from 'n8n-workflow';

export class SwitchboardApi implements ICredentialType {
  name = 'switchboardApi';

  displayName = 'Switchboard API';

  icon: Icon = { light: 'file:../icons/switchboard.svg', dark: 'file:../icons/switchboard.dark.svg' };

  documentationUrl = 'https://www.npmjs.com/package/n8n-nodes-switchboard';

  properties: INodeProperties[] = [
    {
      displayName: 'Base URL',
      name: 'baseUrl',
      type: 'string',
      default: '',
      required: true,
      placeholder: 'https://switchboard.example.com',
      description: 'Address of the server, as n8n reaches it',
    },
    {
      displayName: 'API Key',
      name: 'apiKey',
      type: 'string',
      typeOptions: { password: true },
      default: '',
      required: true,
      description: 'A key from the API keys page of the dashboard',
    },
  ];

  authenticate: IAuthenticateGeneric = {
    type: 'generic',
    properties: { headers: { Authorization: '=Bearer {{$credentials.apiKey}}' } },
  };

  test: ICredentialTestRequest = {
    request: {
      baseURL: '={{$credentials.baseUrl.trim().replace(/(?:\\/api\\/v1)?\\/*$/, "")}}',
      url: '/api/v1/auth/me',
    },
    // n8n reports the message if the body has this value: a page of another server has no account.
    rules: [
      {
        type: 'responseSuccessBody',
        properties: {
          key: 'account.accountId',
          value: undefined,
          message: 'The address does not respond like Switchboard; check the base URL',
        },
      },
    ],
  };
}
