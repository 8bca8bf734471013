locals {
  # A test compares these routes with the functions' own. `*` matches one path segment.
  # The functions check methods, so that a wrong method returns the interface's error.
  routes = jsondecode(file("${path.module}/routes.json"))

  # Unmatched requests reach the least privileged function, whose "not found" error has the interface's form.
  fallback = "removeOtpEmail"

  # Google checks these expectations, at most 100, before it accepts a new map.
  expectations = flatten([
    for id, instance in var.instances : [
      for domain in instance.domains : [
        for route in local.routes : {
          host    = domain
          path    = replace(route.path, "*", "1")
          backend = "${id}/${route.function}"
        }
      ]
    ]
  ])
}

resource "google_compute_url_map" "this" {
  name            = "identity"
  default_service = google_compute_backend_service.this["${keys(var.instances)[0]}/${local.fallback}"].id

  dynamic "host_rule" {
    for_each = var.instances
    content {
      hosts        = host_rule.value.domains
      path_matcher = host_rule.key
    }
  }

  dynamic "path_matcher" {
    for_each = var.instances
    content {
      name            = path_matcher.key
      default_service = google_compute_backend_service.this["${path_matcher.key}/${local.fallback}"].id

      dynamic "route_rules" {
        for_each = local.routes
        content {
          priority = (route_rules.key + 1) * 10
          service  = google_compute_backend_service.this["${path_matcher.key}/${route_rules.value.function}"].id
          match_rules {
            path_template_match = strcontains(route_rules.value.path, "*") ? route_rules.value.path : null
            full_path_match     = strcontains(route_rules.value.path, "*") ? null : route_rules.value.path
          }
        }
      }
    }
  }

  dynamic "test" {
    for_each = slice(local.expectations, 0, min(100, length(local.expectations)))
    content {
      host    = test.value.host
      path    = test.value.path
      service = google_compute_backend_service.this[test.value.backend].id
    }
  }
}
