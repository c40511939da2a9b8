"""A stand-in for the WordPress plugin Redirection, run by WordPress: its routes, response formats and errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from support.wordpress import WordPress

_PHP: Final = """<?php
function standin_rules() { return get_option('standin_rules', []); }
function standin_list($request) {
  $rows = array_values(standin_rules());
  $size = max(5, min(200, (int) ($request['per_page'] ?: 25)));
  return ['items' => array_slice($rows, $size * (int) $request['page'], $size), 'total' => count($rows)];
}
function standin_save($request) {
  $rules = standin_rules();
  $id = (int) ($request['id'] ?: count($rules) + 1 + (int) get_option('standin_deleted', 0));
  foreach (['url', 'match_type', 'action_type', 'group_id'] as $name)
    if (!$request[$name]) return new WP_Error('redirect', "Invalid $name", ['status' => 400]);
  $rules[$id] = ['id' => $id, 'url' => $request['url'], 'match_url' => rtrim($request['url'], '/'),
    'action_code' => (int) $request['action_code'], 'action_type' => $request['action_type'],
    'action_data' => ['url' => $request['action_data']['url']], 'match_type' => $request['match_type'],
    'regex' => (bool) $request['regex'], 'group_id' => (int) $request['group_id'], 'hits' => 0, 'enabled' => true];
  update_option('standin_rules', $rules);
  return $request['id'] ? ['item' => $rules[$id]] : standin_list($request);
}
function standin_delete($request) {
  $rules = standin_rules();
  foreach (wp_parse_id_list($request['items']) as $id) unset($rules[$id]);
  update_option('standin_rules', $rules);
  update_option('standin_deleted', (int) get_option('standin_deleted', 0) + 1);
  return standin_list($request);
}
add_action('rest_api_init', function () {
  $allowed = fn() => current_user_can('manage_options');
  $route = fn($methods, $callback) => ['methods' => $methods, 'callback' => $callback,
    'permission_callback' => $allowed];
  $space = 'redirection/v1';
  register_rest_route($space, '/redirect', [$route('GET', 'standin_list'), $route('POST', 'standin_save')]);
  register_rest_route($space, '/redirect/(?P<id>[\\\\d]+)', [$route('POST', 'standin_save')]);
  register_rest_route($space, '/bulk/redirect/(?P<bulk>delete)', [$route('POST', 'standin_delete')
    + ['args' => ['items' => ['type' => 'array', 'items' => ['type' => ['string', 'number']]]]]]);
  register_rest_route($space, '/group', [$route('GET', fn() => ['items' => [
    ['id' => 2, 'name' => 'Modified Posts', 'module_id' => 1], ['id' => 1, 'name' => 'Redirections', 'module_id' => 1],
    ['id' => 3, 'name' => 'Apache', 'module_id' => 2]], 'total' => 3])]);
});
add_action('init', function () {
  foreach (standin_rules() as $rule)
    if (rtrim(parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH), '/') === $rule['match_url']) {
      wp_redirect($rule['action_data']['url'], $rule['action_code']);
      exit;
    }
});
"""


@contextmanager
def redirection_installed(blog: WordPress) -> Iterator[None]:
    """Install the plugin on a site while the block runs."""
    file = blog.folder / "wp-content/mu-plugins/redirection.php"
    file.write_text(_PHP)
    try:
        yield
    finally:
        file.unlink()
