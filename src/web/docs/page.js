// Shows /openapi.json in Swagger UI, with a sign-in above it.

const viewer = window.SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#viewer',
  deepLinking: true,
  filter: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  // Highlighting a list of 10,000 books takes minutes.
  syntaxHighlight: false,
  plugins: [viewerPlugin],
  responseInterceptor(response) {
    // The description names no server: it is where this page is, also behind a proxy that adds a prefix to the path.
    if (new URL(response.url).pathname.endsWith('/openapi.json'))
      response.text = JSON.stringify({ ...JSON.parse(response.text), servers: [{ url: '.' }] });
    if (response.ok && new URL(response.url).pathname.endsWith('/token')) useToken(response.body.data.token);
    return response;
  },
});

const signIn = document.querySelector('#sign-in');
const status = signIn.querySelector('[role=status]');

signIn.addEventListener('submit', (event) => {
  event.preventDefault();
  const button = signIn.querySelector('button');
  button.disabled = true;
  void postToken().finally(() => {
    button.disabled = false;
  });
});

/** Signs in with what is in the two fields. */
async function postToken() {
  try {
    const body = JSON.stringify(Object.fromEntries(new FormData(signIn)));
    const response = await fetch('token', { method: 'POST', body });
    const { message, data } = await response.json();
    if (response.ok) {
      useToken(data.token);
      signIn.reset();
    } else status.textContent = `Not signed in: ${message}.`;
  } catch {
    status.textContent = 'Not signed in: the service does not respond.';
  }
}

/** Has the viewer send a token, in the security scheme `token` of the description. */
function useToken(token) {
  viewer.preauthorizeApiKey('token', token);
  status.textContent = 'Signed in. This page sends the token with each request, and keeps it in memory only.';
}

/** What the viewer lacks: names of its fields for screen readers, and the reason of a rejection as a line of its own. */
function viewerPlugin({ React: { createElement, Fragment } }) {
  const named = (name) => (Component) => (props) =>
    createElement(
      'label',
      { className: 'named' },
      createElement('span', null, name),
      createElement(Component, props),
    );
  return {
    wrapComponents: {
      // There is one server.
      ServersContainer: () => () => null,
      // HTML has no link in a button, which changes the address, too, when it opens the operation.
      DeepLink:
        () =>
        ({ text }) =>
          text,
      TextArea: named('Request body'),
      ExamplesSelect: named('Example'),
      Select: named('Value'),
      liveResponse: (Component) => (props) => {
        const detail = props.response.getIn(['headers', 'error-detail']);
        return createElement(
          Fragment,
          null,
          detail && createElement('p', { className: 'detail' }, `Error-Detail: ${detail}`),
          createElement(Component, props),
        );
      },
    },
  };
}

// The theme of the console, or else that of the system.
const isDark = matchMedia('(prefers-color-scheme: dark)');
isDark.addEventListener('change', applyTheme);
applyTheme();

function applyTheme() {
  const theme = localStorage.getItem('theme') ?? (isDark.matches ? 'dark' : 'light');
  document.documentElement.classList.toggle('dark-mode', theme === 'dark');
}
