// Shows /openapi.json in Swagger UI.

const viewer = window.SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#viewer',
  deepLinking: true,
  filter: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  // Highlighting a list of 10,000 books takes minutes.
  syntaxHighlight: false,
  responseInterceptor(response) {
    // The description names no server: it is where this page is, also behind a proxy that adds a prefix to the path.
    if (new URL(response.url).pathname.endsWith('/openapi.json'))
      response.text = JSON.stringify({ ...JSON.parse(response.text), servers: [{ url: '.' }] });
    // Makes the viewer send the token of `POST /token`, in the security scheme `token` of the description.
    if (response.ok && new URL(response.url).pathname.endsWith('/token'))
      viewer.preauthorizeApiKey('token', response.body.data.token);
    return response;
  },
});

// The theme of the console, or else that of the system.
const isDark = matchMedia('(prefers-color-scheme: dark)');
isDark.addEventListener('change', applyTheme);
applyTheme();

function applyTheme() {
  const theme = localStorage.getItem('theme') ?? (isDark.matches ? 'dark' : 'light');
  document.documentElement.classList.toggle('dark-mode', theme === 'dark');
}
