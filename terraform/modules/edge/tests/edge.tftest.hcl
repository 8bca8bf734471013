mock_provider "google" {
  source = "../../tests/mocks"
}

variables {
  admin_requests_per_minute = 60
  region                    = "europe-west1"
  requests_per_minute       = 600
  instances = {
    north = {
      domain   = "north.example.com"
      services = { removeOtpEmail = "north-remove-otp-email", export = "north-export", import = "north-import" }
    }
    south = {
      domain   = "south.example.com"
      services = { removeOtpEmail = "south-remove-otp-email", export = "south-export", import = "south-import" }
    }
  }
}

run "uses_a_load_balancer_that_supports_path_templates" {
  assert {
    condition     = alltrue([for backend in google_compute_backend_service.this : backend.load_balancing_scheme == "EXTERNAL_MANAGED"])
    error_message = "Every backend must be EXTERNAL_MANAGED: the classic load balancer rejects route rules."
  }
  assert {
    condition     = alltrue([for key, backend in google_compute_backend_service.this : backend.protocol == "HTTPS" && [for group in backend.backend : group.group] == [google_compute_region_network_endpoint_group.this[key].id]])
    error_message = "Every backend must reach its own function, over TLS."
  }
  assert {
    condition     = alltrue([for rule in google_compute_global_forwarding_rule.https : rule.load_balancing_scheme == "EXTERNAL_MANAGED"])
    error_message = "The forwarding rules must be EXTERNAL_MANAGED."
  }
}

run "routes_each_domain_to_its_own_instance" {
  assert {
    condition     = { for rule in google_compute_url_map.this.host_rule : rule.path_matcher => tolist(rule.hosts) } == { north = tolist(["north.example.com"]), south = tolist(["south.example.com"]) }
    error_message = "Each instance must have a host rule for its domain only."
  }
}

run "sends_each_route_to_its_function_of_the_same_instance" {
  assert {
    condition = alltrue([
      for matcher in google_compute_url_map.this.path_matcher : [
        for rule in matcher.route_rules : [
          rule.match_rules[0].path_template_match == null ? rule.match_rules[0].full_path_match : rule.match_rules[0].path_template_match,
          rule.service,
        ]
        ] == [
        for route in jsondecode(file("routes.json")) : [route.path, google_compute_backend_service.this["${matcher.name}/${route.function}"].id]
      ]
    ])
    error_message = "Each instance must have exactly the routes of routes.json, in their order."
  }
  assert {
    condition = alltrue(flatten([
      for matcher in google_compute_url_map.this.path_matcher : [
        for rule in matcher.route_rules :
        (rule.match_rules[0].path_template_match == null) != (rule.match_rules[0].full_path_match == null)
      ]
    ]))
    error_message = "A route must match by a template or by its full path, never by both."
  }
  assert {
    condition     = alltrue([for matcher in google_compute_url_map.this.path_matcher : length(distinct(matcher.route_rules[*].priority)) == length(matcher.route_rules)])
    error_message = "Priorities must differ within an instance."
  }
}

run "sends_unmatched_requests_to_the_least_privileged_function" {
  assert {
    condition     = alltrue([for matcher in google_compute_url_map.this.path_matcher : matcher.default_service == google_compute_backend_service.this["${matcher.name}/removeOtpEmail"].id])
    error_message = "An unmatched path must reach removeOtpEmail of the same instance."
  }
  assert {
    condition     = google_compute_url_map.this.default_service == google_compute_backend_service.this["north/removeOtpEmail"].id
    error_message = "An unknown host must reach removeOtpEmail too."
  }
}

run "lets_google_check_every_route" {
  assert {
    condition     = length(google_compute_url_map.this.test) == 30
    error_message = "Each route of each instance must have a test in the map."
  }
  assert {
    condition = contains([
      for test in google_compute_url_map.this.test : "${test.host}${test.path} ${test.service}"
    ], "south.example.com/v2/users/1/otp_email ${google_compute_backend_service.this["south/removeOtpEmail"].id}")
    error_message = "A template's test must use a path that matches it."
  }
}

run "stays_within_the_hundred_tests_of_a_map" {
  variables {
    instances = { for number in range(30) : "instance-${number}" => {
      domain   = "id-${number}.example.com"
      services = { removeOtpEmail = "i${number}-remove-otp-email", export = "i${number}-export", import = "i${number}-import" }
    } }
  }

  assert {
    condition     = length(google_compute_url_map.this.test) == 100
    error_message = "A map accepts at most 100 tests."
  }
  assert {
    condition     = length(google_compute_url_map.this.path_matcher) == 30
    error_message = "Every instance must still have its routes."
  }
}

run "reaches_functions_of_the_second_generation" {
  assert {
    condition     = alltrue([for group in google_compute_region_network_endpoint_group.this : group.network_endpoint_type == "SERVERLESS" && length(group.cloud_run) == 1 && length(group.cloud_function) == 0])
    error_message = "A second-generation function must be reached as a Cloud Run service."
  }
  assert {
    condition     = google_compute_region_network_endpoint_group.this["south/import"].cloud_run[0].service == "south-import"
    error_message = "Each endpoint group must name one function's service."
  }
}

run "has_a_certificate_for_every_instance" {
  assert {
    condition     = output.hosts == { north = "north.example.com", south = "south.example.com" } && toset(values(google_certificate_manager_certificate_map_entry.this)[*].hostname) == toset(values(output.hosts))
    error_message = "Each instance must have a certificate map entry for its domain."
  }
  assert {
    condition = alltrue([
      for key, entry in google_certificate_manager_certificate_map_entry.this :
      tolist(entry.certificates) == tolist([google_certificate_manager_certificate.this[key].id])
      && tolist(google_certificate_manager_certificate.this[key].managed[0].domains) == tolist([entry.hostname])
      && tolist(google_certificate_manager_certificate.this[key].managed[0].dns_authorizations) == tolist([google_certificate_manager_dns_authorization.this[key].id])
      && google_certificate_manager_dns_authorization.this[key].domain == entry.hostname
    ])
    error_message = "Each entry must name its domain's certificate, authorised by that domain's DNS."
  }
  assert {
    condition     = alltrue([for authorization in google_certificate_manager_dns_authorization.this : authorization.type == "PER_PROJECT_RECORD"])
    error_message = "Two projects must be able to authorise a domain."
  }
  assert {
    condition = alltrue([
      for key, entry in google_certificate_manager_certificate_map_entry.this :
      entry.name == "identity-${substr(sha256(entry.hostname), 0, 8)}" && key == entry.hostname && entry.name == google_certificate_manager_certificate.this[key].name && entry.name == google_certificate_manager_dns_authorization.this[key].name
    ])
    error_message = "Certificates must belong to domains: an instance that takes over a domain must take over its certificate."
  }
  assert {
    condition     = google_compute_target_https_proxy.this.certificate_map == "//certificatemanager.googleapis.com/${google_certificate_manager_certificate_map.this.id}"
    error_message = "The proxy must serve the map's certificates."
  }
}

run "accepts_only_tls_1_2_or_later_on_port_443" {
  assert {
    condition     = google_compute_ssl_policy.this.min_tls_version == "TLS_1_2" && google_compute_ssl_policy.this.profile == "RESTRICTED"
    error_message = "Older TLS versions and weak ciphers must be rejected."
  }
  assert {
    condition     = google_compute_target_https_proxy.this.ssl_policy == google_compute_ssl_policy.this.id
    error_message = "The proxy must use that policy."
  }
  assert {
    condition     = alltrue([for rule in google_compute_global_forwarding_rule.https : rule.port_range == "443" && rule.target == google_compute_target_https_proxy.this.id])
    error_message = "Port 443 must be the only port."
  }
}

run "throttles_addresses_above_the_limit" {
  assert {
    condition     = alltrue([for backend in google_compute_backend_service.this : backend.security_policy == google_compute_security_policy.this.id])
    error_message = "Every backend must use the policy."
  }
  assert {
    condition = [
      for rule in google_compute_security_policy.this.rule : [
        for limit in rule.rate_limit_options : [
          limit.conform_action, limit.exceed_action, limit.enforce_on_key,
          limit.rate_limit_threshold[0].count, limit.rate_limit_threshold[0].interval_sec,
        ]
      ] if rule.action == "throttle" && [for config in rule.match[0].config : config.src_ip_ranges] == [toset(["*"])]
    ] == [[["allow", "deny(429)", "IP", 600, 60]]]
    error_message = "Every address above the limit must receive 429."
  }
  assert {
    condition = [
      for rule in google_compute_security_policy.this.rule : [
        rule.priority, rule.action, rule.match[0].expr[0].expression, rule.rate_limit_options[0].exceed_action, rule.rate_limit_options[0].enforce_on_key,
        rule.rate_limit_options[0].rate_limit_threshold[0].count, rule.rate_limit_options[0].rate_limit_threshold[0].interval_sec,
      ] if length(rule.match[0].expr) > 0
    ] == [[900, "throttle", "request.path.startsWith('/admin/')", "deny(429)", "IP", 60, 60]]
    error_message = "Exports and imports must have a lower limit of their own, which is checked first."
  }
  assert {
    condition     = [for rule in google_compute_security_policy.this.rule : rule.action if rule.priority == 2147483647] == ["allow"]
    error_message = "The default rule must let the other requests through."
  }
}

run "writes_a_log_line_for_every_request" {
  assert {
    condition     = alltrue([for backend in google_compute_backend_service.this : backend.log_config[0].enable && backend.log_config[0].sample_rate == 1])
    error_message = "The load balancer's log is the only record of all requests."
  }
}

run "has_an_address_of_each_family" {
  assert {
    condition     = { for family, address in google_compute_global_address.this : family => address.ip_version } == { IPV4 = "IPV4", IPV6 = "IPV6" }
    error_message = "Clients without IPv4 must reach the load balancer too."
  }
  assert {
    condition     = { for family, rule in google_compute_global_forwarding_rule.https : family => rule.ip_address } == { for family, address in google_compute_global_address.this : family => address.id }
    error_message = "Each address must lead to the load balancer."
  }
  assert {
    condition     = output.addresses == { A = google_compute_global_address.this["IPV4"].address, AAAA = google_compute_global_address.this["IPV6"].address }
    error_message = "Each address must have the DNS record of its family."
  }
}
