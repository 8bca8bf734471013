output "address" {
  description = "The load balancer's IP address."
  value       = google_compute_global_address.this.address
}

output "certificate_records" {
  description = "Of each instance the DNS record that lets its certificate be issued."
  value = { for id, authorization in google_certificate_manager_dns_authorization.this : id => {
    name = authorization.dns_resource_record[0].name
    type = authorization.dns_resource_record[0].type
    data = authorization.dns_resource_record[0].data
  } }
}

output "hosts" {
  description = "Of each instance the domain that it has a certificate for."
  value       = { for id, entry in google_certificate_manager_certificate_map_entry.this : id => entry.hostname }
}
